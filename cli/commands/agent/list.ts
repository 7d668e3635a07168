import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import { integer, word } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { MODE_NAMES } from './document.ts';
import { modeText } from './shown.ts';

interface Options {
  readonly mode?: 'primary' | 'subagent';
  readonly on?: true;
  readonly off?: true;
  readonly all?: true;
  readonly limit?: number;
  readonly offset?: number;
  readonly json?: true;
}

/** `svc agent list`. */
export const list = verb<[], Options>({
  configure: (command) =>
    command
      .option('--mode <mode>', 'Only primary agents, or only subagents', word('primary', 'subagent'))
      .option('--on', 'Only those that are on')
      .option('--off', 'Only those that are off')
      .option('--all', 'Hidden ones, too')
      .option('--limit <count>', 'How many at most, up to 200', integer(1))
      .option('--offset <count>', 'How many to leave out', integer(0))
      .option('--json', 'Print JSON'),
  examples: ['svc agent list', "svc agent list --all --json | jq -r '.[].name'"],
  async run(cli, _, { mode, on, off, all, limit, offset, json }) {
    const client = await cli.client();
    const query = {
      ...{ limit, offset, includeHidden: all },
      ...(on || off ? { enabled: on === true } : {}),
      mode: mode && MODE_NAMES[mode],
    };
    const { agents = [], total } = await client.call(agentDefinitions.ListAgents, { query });
    if (json) {
      showJson(cli, agents);
      return undefined;
    }
    showList(cli, {
      rows: agents,
      none: 'There are no agents. Make one: svc agent create NAME --model MODEL',
      page: { offset, total },
      columns: [
        { title: 'NAME', text: ({ name }) => name },
        { title: 'MODEL', text: ({ model }) => model },
        { title: 'MODE', text: modeText },
        { title: 'TOOLS', align: 'right', text: ({ tools = [] }) => String(tools.length) },
        { title: 'VERSION', align: 'right', text: ({ version }) => String(version ?? '') },
        { title: 'STATE', text: ({ enabled }) => (enabled ? 'on' : 'off') },
        {
          title: 'CHANGED',
          text: ({ updatedAt }) => relativeTime(updatedAt),
          raw: ({ updatedAt }) => updatedAt,
        },
        { title: 'DESCRIPTION', text: ({ description }) => description?.split('\n')[0] },
      ],
    });
    return undefined;
  },
});
