import { usage } from '../../../src/api/gateway/usage.ts';
import { duration, word } from '../../args.ts';
import { verb } from '../../verb.ts';
import { ago, type FilterOptions, filterOptions, filterQuery } from './filter.ts';

interface Options extends FilterOptions {
  since?: number;
  format: 'ndjson' | 'csv';
}

/** `svc logs export`: the log as it is, to stdout, as fast as it is taken. */
export const exportLog = verb<[], Options>({
  configure: (command) =>
    filterOptions(command)
      .option('--since <duration>', 'How far back', duration)
      .option('--format <format>', 'ndjson or csv', word('ndjson', 'csv'), 'ndjson'),
  examples: ['svc logs export --since 30d > requests.ndjson', 'svc logs export --format csv --ending failed'],
  async run(cli, _, { since, format, ...options }) {
    const client = await cli.client();
    const query = { ...filterQuery(options), since: ago(since), format };
    const response = await client.open(usage.ExportRequests, { query });
    for await (const piece of response.body ?? [])
      if (!cli.terminal.out.write(piece)) await cli.terminal.out.drained();
    return undefined;
  },
});
