import { sandboxTemplates } from '../../../src/api/sandbox/templates.ts';
import { showJson, showList } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox templates`. */
export const templates = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc sandbox templates', 'svc sandbox create --template node-22'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const { templates: rows = [] } = await client.call(sandboxTemplates.ListSandboxTemplates);
    if (json) showJson(cli, rows);
    else {
      showList(cli, {
        rows,
        none: 'There are no templates.',
        columns: [
          { title: 'SLUG', text: ({ slug }) => slug },
          { title: 'NAME', text: ({ name }) => name },
          { title: 'IMAGE', text: ({ image }) => image },
          { title: 'CPU', text: ({ cpuLimit }) => cpuLimit?.toString(), align: 'right' },
          { title: 'MEMORY MB', text: ({ memoryMb }) => memoryMb, align: 'right' },
          { title: 'DESCRIPTION', text: ({ description }) => description },
        ],
      });
    }
    return undefined;
  },
});
