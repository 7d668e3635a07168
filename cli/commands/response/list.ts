import { responseList } from '../../../src/api/gateway/response-list.ts';
import { integer } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { createdAt } from './created-at.ts';

/** `svc response list`. */
export const list = verb<[], { limit: number; after?: string; status?: string; json?: true }>({
  configure: (command) =>
    command
      .option(
        '--status <status>',
        'Only those that are in_progress, completed, incomplete, failed or cancelled',
      )
      .option('--limit <n>', 'Most to list', integer(1), 20)
      .option('--after <id>', 'Go on after this one')
      .option('--json', 'Print JSON'),
  examples: ['svc response list --status in_progress', 'svc response list --json | jq -r .data[].id'],
  async run(cli, _, { limit, after, status, json }) {
    const client = await cli.client();
    const page = await client.call(responseList.ListResponses, { query: { limit, after, status } });
    if (json) {
      showJson(cli, page);
      return undefined;
    }
    showList(cli, {
      rows: page.data ?? [],
      none: 'There are no responses here. Make one: svc api POST /compat/v1/responses',
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'STATUS', text: ({ status }) => status },
        { title: 'MODEL', text: ({ model }) => model },
        { title: 'TOKENS', text: ({ usage }) => usage?.totalTokens?.toString() },
        {
          title: 'CREATED',
          text: (one) => relativeTime(createdAt(one.createdAt)),
          raw: (one) => createdAt(one.createdAt),
        },
      ],
    });
    if (page.hasMore && cli.terminal.err.isTty) cli.terminal.note(`more with --after ${page.lastId}`);
    return undefined;
  },
});
