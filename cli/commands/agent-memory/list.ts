import { agentMemories, MEMORY_SCOPES, MEMORY_TYPES } from '../../../src/api/agents/memories.ts';
import { integer, word } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

interface Options {
  type?: (typeof MEMORY_TYPES)[number];
  scope?: (typeof MEMORY_SCOPES)[number];
  shared?: true;
  all?: true;
  limit?: number;
  offset?: number;
  json?: true;
}

const ROW_TEXT = 80;

/** `svc agent memory list`. */
export const list = verb<[agent: string], Options>({
  configure: (command) =>
    command
      .argument('<agent>', 'Id or name of the agent')
      .option('--type <type>', MEMORY_TYPES.join(', '), word(...MEMORY_TYPES))
      .option('--scope <scope>', MEMORY_SCOPES.join(', '), word(...MEMORY_SCOPES))
      .option('--shared', 'Also what other agents have kept for you and for the organization')
      .option('--all', 'Also those that are retired or were replaced')
      .option('--limit <count>', 'How many at most', integer(1))
      .option('--offset <count>', 'How many to leave out', integer(0))
      .option('--json', 'Print JSON'),
  examples: [
    'svc agent memory list helper',
    "svc agent memory list helper --shared --json | jq -r '.[].content'",
  ],
  async run(cli, [agentId], { type, scope, shared, all, limit, offset, json }) {
    const client = await cli.client();
    const { memories = [], total } = await client.call(agentMemories.ListAgentMemories, {
      params: { agentId },
      query: { memoryType: type, scope, includeShared: shared, activeOnly: !all, limit, offset },
    });
    if (json) {
      showJson(cli, memories);
      return undefined;
    }
    const short = (text = '') => text.replace(/\s+/g, ' ').slice(0, ROW_TEXT);
    showList(cli, {
      rows: memories,
      none: `Nothing is remembered. Add something: svc agent memory add ${agentId} "..."`,
      page: { offset, total },
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'TYPE', text: ({ memoryType }) => memoryType },
        { title: 'SCOPE', text: ({ scope: shown }) => shown },
        { title: 'KEY', text: ({ factKey }) => factKey || '-' },
        { title: 'CONTENT', text: ({ content }) => short(content), raw: ({ content }) => content },
        { title: 'SURE', align: 'right', text: ({ confidence = 0 }) => confidence.toFixed(2) },
        { title: 'USED', align: 'right', text: ({ accessCount = 0 }) => String(accessCount) },
        {
          title: 'STATE',
          text: ({ isActive, supersededBy }) => (isActive ? 'valid' : supersededBy ? 'replaced' : 'retired'),
        },
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
