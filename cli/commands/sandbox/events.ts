import type { Output } from '../../../src/api/endpoint.ts';
import { sandboxHistory } from '../../../src/api/sandbox/history.ts';
import { integer } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

const POLL_MS = 1_000;

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
    if (!follow) {
      if (json) showJson(cli, first);
      else show(cli, first);
      return undefined;
    }
    const seen = new Set<string | undefined>();
    for (let page = first; ; page = await read()) {
      const fresh = page.filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) seen.add(id);
      if (json) for (const event of fresh) cli.terminal.print(JSON.stringify(event));
      else if (fresh.length > 0) show(cli, fresh, page === first);
      await Bun.sleep(POLL_MS);
    }
  },
});

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
