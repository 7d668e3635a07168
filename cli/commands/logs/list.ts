import { usage } from '../../../src/api/gateway/usage.ts';
import type { Client } from '../../../src/client/client.ts';
import { AppError } from '../../../src/errors/app-error.ts';
import { duration, integer } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { verb } from '../../verb.ts';
import { ago, type FilterOptions, type FilterQuery, filterOptions, filterQuery } from './filter.ts';
import { type LoggedRequestShown, requestLine, requestValues } from './line.ts';

/** A daemon that is restarted is back within this. */
const RETRY_MS = 1_000;
const MAX_ATTEMPTS = 30;

interface Options extends FilterOptions {
  since?: number;
  limit: number;
  follow?: true;
  json?: true;
}

/** `svc logs`: requests to models, one line each, the newest last; with -f as they end. */
export const list = verb<[], Options>({
  configure: (command) =>
    filterOptions(command)
      .option('--since <duration>', 'How far back', duration)
      .option('-n, --limit <n>', 'Most to list', integer(1), 20)
      .option('-f, --follow', 'Go on until Ctrl-C')
      .option('--json', 'Print JSON, one line a request'),
  about:
    'A line says when it began, how it ended, who answered, how long it took (to the first byte), tokens in>out, cost. What was said is never logged.',
  examples: [
    'svc logs',
    'svc logs -f',
    'svc logs --status 5xx --since 1h',
    'svc logs --model "openai/*" --slower 5s --json',
  ],
  async run(cli, _, { since, limit, follow, json, ...options }) {
    const client = await cli.client();
    const filter = filterQuery(options);
    const query = { ...filter, since: ago(since), limit: Math.min(limit, 500) };
    const { requests = [], lastId } = await client.call(usage.ListRequests, { query });
    for (const request of requests.toReversed()) print(cli, request, json);
    if (requests.length === 0 && !follow && cli.terminal.err.isTty) cli.terminal.note('No such requests.');
    if (follow) await goOn(cli, client, filter, lastId, json);
    return undefined;
  },
});

/** Prints what ends from now on. A connection that breaks is made again, and goes on where it broke. */
async function goOn(
  cli: Cli,
  client: Client,
  filter: FilterQuery,
  lastSeen: string | undefined,
  json: true | undefined,
): Promise<void> {
  let seen = lastSeen;
  for (let attempts = 0; ; ) {
    try {
      for await (const { id, data } of client.stream(usage.WatchRequests, {
        query: { ...filter, after: seen },
      })) {
        print(cli, JSON.parse(data) as LoggedRequestShown, json);
        [seen, attempts] = [id, 0];
      }
      return;
    } catch (error) {
      const isBroken = error instanceof AppError && error.code === 'unreachable';
      if (!isBroken || ++attempts > MAX_ATTEMPTS) throw error;
      await Bun.sleep(RETRY_MS);
    }
  }
}

function print({ terminal }: Cli, request: LoggedRequestShown, json: true | undefined): void {
  const { isTty, style } = terminal.out;
  terminal.print(
    json ? JSON.stringify(request) : isTty ? requestLine(request, style) : requestValues(request),
  );
}
