import { memoryCollections } from '../../../src/api/memory/collections.ts';
import { DAY_MS, rfc3339 } from '../../../src/kit/time.ts';
import { duration } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc memory stats`: how memory was used. */
export const stats = verb<[], { since: number; json?: true }>({
  configure: (command) =>
    command
      .option('--since <duration>', 'How far back; by days when more than a week', duration, DAY_MS)
      .option('--json', 'Print JSON'),
  examples: ['svc memory stats', 'svc memory stats --since 30d --json'],
  async run(cli, _, { since, json }) {
    const client = await cli.client();
    const from = rfc3339(Date.now() - since);
    const report = await client.call(memoryCollections.GetMemoryAnalytics, { body: { from } });
    if (json) {
      showJson(cli, report);
      return undefined;
    }
    const { buckets = [], totalRequests = 0, totalErrors = 0, avgLatencyMs = 0 } = report;
    const used = ({ queryCount = 0, storeCount = 0, deleteCount = 0 }: (typeof buckets)[number]) =>
      queryCount + storeCount + deleteCount > 0;
    showList(cli, {
      rows: buckets.filter(used),
      none: 'Memory was not used in this time.',
      columns: [
        { title: 'FROM', text: ({ timestamp }) => timestamp },
        { title: 'QUERIES', align: 'right', text: ({ queryCount }) => String(queryCount) },
        { title: 'STORED', align: 'right', text: ({ storeCount }) => String(storeCount) },
        { title: 'REMOVED', align: 'right', text: ({ deleteCount }) => String(deleteCount) },
        { title: 'ERRORS', align: 'right', text: ({ errorCount }) => String(errorCount) },
        { title: 'MS', align: 'right', text: ({ avgLatencyMs: ms = 0 }) => ms.toFixed(1) },
      ],
    });
    if (cli.terminal.err.isTty && totalRequests > 0)
      cli.terminal.note(
        `${totalRequests} calls, ${totalErrors} errors, ${avgLatencyMs.toFixed(1)} ms on average`,
      );
    return undefined;
  },
});
