import { showJson, showList } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc context list`. */
export const list = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc context list'],
  async run(cli, _, { json }) {
    const active = cli.contexts.active();
    const rows = cli.contexts.list().map(({ name, apiUrl }) => ({
      name,
      apiUrl,
      active: name === active,
      signedIn: cli.contexts.credential(name) !== undefined,
    }));
    if (json) showJson(cli, rows);
    else {
      showList(cli, {
        rows,
        none: 'There are no contexts; calls go to the instance of this machine. Add one: svc context add NAME URL',
        columns: [
          { title: 'NAME', text: ({ name }) => name },
          { title: 'URL', text: ({ apiUrl }) => apiUrl },
          { title: 'ACTIVE', text: ({ active }) => (active ? 'yes' : 'no') },
          { title: 'SIGNED IN', text: ({ signedIn }) => (signedIn ? 'yes' : 'no') },
        ],
      });
    }
    return undefined;
  },
});
