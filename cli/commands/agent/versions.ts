import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

/** `svc agent versions`. */
export const versions = verb<[name: string], { json?: true }>({
  configure: (command) =>
    command.argument('<name>', 'Name, alias or id of an agent').option('--json', 'Print JSON'),
  about: 'The last 100 changes are kept. See one whole: svc agent get NAME --at VERSION',
  examples: ['svc agent versions coder', 'svc agent versions coder --json | jq .[0].changes'],
  async run(cli, [id], { json }) {
    const client = await cli.client();
    const { versions: rows } = await client.call(agentDefinitions.ListAgentVersions, { params: { id } });
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: '',
      columns: [
        { title: 'VERSION', align: 'right', text: ({ version }) => String(version) },
        {
          title: 'CHANGED',
          text: ({ createdAt }) => relativeTime(createdAt),
          raw: ({ createdAt }) => createdAt,
        },
        { title: 'BY', text: ({ changedBy }) => changedBy },
        { title: 'AGENT', text: ({ changedByAgent }) => changedByAgent },
        { title: 'FIELDS', text: ({ changes }) => changes.join(', ') },
      ],
    });
    return undefined;
  },
});
