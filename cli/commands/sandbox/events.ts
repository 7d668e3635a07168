import type { Output } from '../../../src/api/endpoint.ts';
import { sandboxHistory } from '../../../src/api/sandbox/history.ts';
import type { Client } from '../../../src/client/client.ts';
import { AppError } from '../../../src/errors/app-error.ts';
import { integer } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

/** A daemon that is restarted is back within this. */
const RETRY_MS = 1_000;
const MAX_ATTEMPTS = 30;

interface Options {
  eventType?: string;
  limit: number;
  offset?: number;
  follow?: true;
  json?: true;
}

type SandboxEvent = NonNullable<Output<typeof sandboxHistory.ListSandboxEvents>['events']>[number];

/** `svc sandbox events`: what happened to a sandbox, oldest first. */
export const events = verb<[name: string], Options>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .option('--type, --event-type <type>', 'Only events of this type')
      .option('--limit <n>', 'Most to list', integer(1), 50)
      .option('--offset <n>', 'How many of the newest to skip', integer(0))
      .option('-f, --follow', 'Go on until Ctrl-C')
      .option('--json', 'Print JSON, one line an event with --follow'),
  examples: ['svc sandbox events box', 'svc sandbox events box -f', 'svc sandbox events box --type running'],
  async run(cli, [name], { eventType, limit, offset, follow, json }) {
    const client = await cli.client();
    const read = async () => {
      const query = { eventType, limit, offset };
      const answer = await client.call(sandboxHistory.ListSandboxEvents, {
        params: { sandboxId: name },
        query,
      });
      return (answer.events ?? []).toReversed();
    };
    const first = await read();
    if (json && !follow) showJson(cli, first);
    else print(cli, first, json, true);
    if (follow) await goOn(cli, client, name, { eventType, json }, first.at(-1)?.id);
    return undefined;
  },
});

/** Prints what happens from now on. A connection that breaks is made again, and goes on where it broke. */
async function goOn(
  cli: Cli,
  client: Client,
  name: string,
  { eventType, json }: Pick<Options, 'eventType' | 'json'>,
  lastSeen: string | undefined,
): Promise<void> {
  const params = { sandboxId: name };
  let seen = lastSeen;
  for (let attempts = 0; ; ) {
    try {
      const query = { eventType, after: seen ?? '0' };
      for await (const { id, data } of client.stream(sandboxHistory.WatchSandboxEvents, { params, query })) {
        print(cli, [JSON.parse(data)], json, seen === undefined);
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

function print(cli: Cli, rows: readonly SandboxEvent[], json: true | undefined, heading: boolean): void {
  if (!json) show(cli, rows, heading);
  else for (const event of rows) cli.terminal.print(JSON.stringify(event));
}

function show(cli: Cli, rows: readonly SandboxEvent[], heading = true): void {
  showList(cli, {
    rows,
    heading,
    none: 'Nothing has happened yet.',
    columns: [
      { title: 'WHEN', text: ({ createdAt }) => relativeTime(createdAt), raw: ({ createdAt }) => createdAt },
      { title: 'EVENT', text: ({ eventType }) => eventType },
      { title: 'MS', text: ({ durationMs }) => durationMs, align: 'right' },
      { title: 'MESSAGE', text: ({ message, error }) => error || message },
    ],
  });
}
