import { agentSessions } from '../../../src/api/agents/sessions.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { integer, word } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { findAgent } from './begin.ts';
import { agentNames, statusText } from './shown.ts';

const STATUS = {
  created: 'SESSION_STATUS_CREATED',
  running: 'SESSION_STATUS_RUNNING',
  input: 'SESSION_STATUS_WAITING_FOR_INPUT',
  approval: 'SESSION_STATUS_WAITING_FOR_APPROVAL',
  completed: 'SESSION_STATUS_COMPLETED',
  failed: 'SESSION_STATUS_FAILED',
  cancelled: 'SESSION_STATUS_CANCELLED',
} as const;
type StatusWord = keyof typeof STATUS;
const STATUS_WORDS = Object.keys(STATUS) as [StatusWord, ...StatusWord[]];

interface Options {
  readonly agent?: string;
  readonly status?: StatusWord;
  readonly limit?: number;
  readonly offset?: number;
  readonly json?: true;
}

/** `svc session list`. */
export const list = verb<[], Options>({
  configure: (command) =>
    command
      .option('--agent <agent>', 'Only those of this agent: its name or id')
      .option(
        '--status <status>',
        `Only those that are so: ${STATUS_WORDS.join(', ')}`,
        word(...STATUS_WORDS),
      )
      .option('--limit <count>', 'How many at most', integer(1))
      .option('--offset <count>', 'How many to leave out', integer(0))
      .option('--json', 'Print JSON'),
  about: 'Newest first. `input` and `approval` wait for a person; between turns a session is `running`.',
  examples: [
    'svc session list',
    'svc session list --status approval',
    'svc session list --agent reviewer | cut -f1',
  ],
  async run(cli, _, { agent, status, limit, offset, json }) {
    const client = await cli.client();
    const known = agent === undefined ? undefined : await findAgent(client, agent);
    if (agent !== undefined && !known && !agent.startsWith('agt_'))
      throw fail('not_found', { what: 'agent', id: agent });
    const query = { agentId: known?.id ?? agent, status: status && STATUS[status], limit, offset };
    const { sessions: rows = [], total } = await client.call(agentSessions.ListSessions, { query });
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    const names = rows.length > 0 ? await agentNames(client) : new Map<string, string>();
    showList(cli, {
      rows,
      none: 'There are no sessions. Begin one: svc session run AGENT "..."',
      page: { offset, total },
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'AGENT', text: ({ agentId = '' }) => names.get(agentId) ?? agentId },
        { title: 'STATUS', text: statusText },
        { title: 'TURNS', align: 'right', text: ({ turnCount = 0 }) => String(turnCount) },
        { title: 'TOKENS', align: 'right', text: ({ totalTokens = 0 }) => String(totalTokens) },
        {
          title: 'CHANGED',
          text: ({ updatedAt }) => relativeTime(updatedAt),
          raw: ({ updatedAt }) => updatedAt,
        },
      ],
    });
    return undefined;
  },
});
