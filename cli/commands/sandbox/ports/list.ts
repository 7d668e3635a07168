import { sandboxPorts } from '../../../../src/api/sandbox/ports.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox ports list`. */
export const list = verb<[name: string], { json?: true }>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of a sandbox').option('--json', 'Print JSON'),
  examples: ['svc sandbox ports list box', 'svc sandbox ports list box --json | jq -r .[].url'],
  async run(cli, [name], { json }) {
    const client = await cli.client();
    const { ports: rows = [] } = await client.call(sandboxPorts.ListExposedPorts, {
      params: { sessionId: name },
    });
    if (json) showJson(cli, rows);
    else {
      showList(cli, {
        rows,
        none: `No port is exposed. Expose one: svc sandbox ports expose ${name} 3000`,
        columns: [
          { title: 'PORT', text: ({ port }) => port?.toString(), align: 'right' },
          { title: 'URL', text: ({ url }) => url },
          { title: 'STATUS', text: ({ status }) => status },
          {
            title: 'EXPOSED',
            text: ({ createdAt }) => relativeTime(createdAt),
            raw: ({ createdAt }) => createdAt,
          },
        ],
      });
    }
    return undefined;
  },
});
