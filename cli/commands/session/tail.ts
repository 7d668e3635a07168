import { agentTurns } from '../../../src/api/agents/turns.ts';
import type { Client } from '../../../src/client/client.ts';
import { integer } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { printable } from '../../ui/table.ts';
import { verb } from '../../verb.ts';
import { getSession } from './begin.ts';
import { type SeenEvent, sessionEvents } from './feed.ts';
import { PlainPrinter } from './plain-printer.ts';
import { indented, ndjson } from './shown.ts';
import { connectionText } from './watch-turn.ts';

const PAGE = 1_000;

interface Options {
  readonly after: number;
  readonly follow: boolean;
  readonly json?: true;
}

/** `svc session tail`: what happened in a session and what happens. */
export const tail = verb<[id: string], Options>({
  configure: (command) =>
    command
      .argument('<id>', 'Id of a session')
      .option('--after <event>', 'Begin after the event with this number', integer(0), 0)
      .option('--no-follow', 'End when all that has happened is printed')
      .option('--json', 'Print the events as NDJSON, each with its number'),
  about:
    'From the beginning until the session is completed or cancelled, or Ctrl-C. It connects again by itself, also when the daemon is restarted: each event comes once.',
  examples: [
    'svc session tail ses_01jd...',
    'svc session tail ses_01jd... --after 250',
    `svc session tail ses_01jd... --no-follow --json | jq -r 'select(.type == "tool_call.start").toolName'`,
  ],
  async run(cli, [sessionId], { after, follow, json }) {
    const client = await cli.client();
    const { out, err } = cli.terminal;
    const printer = new PlainPrinter({ words: out, lines: out, full: true });
    const onConnection = (isThere: boolean) => err.isTty && cli.terminal.note(connectionText(isThere));
    const events = follow
      ? sessionEvents(client, { sessionId, after, onConnection })
      : pastEvents(client, sessionId, after);
    const inputs = new TurnInputs(client, sessionId);
    for await (const { id, event } of events) {
      if (json) await printLine(cli, ndjson(id, event));
      else await printer.take(event);
      if (!json && event.type === 'turn.start')
        await printLine(cli, out.style.cyan(indented('> ', await inputs.of(event.turnNumber ?? 0))));
    }
    await printer.end();
    return undefined;
  },
});

async function printLine(cli: Cli, line: string): Promise<void> {
  if (!cli.terminal.out.write(`${line}\n`)) await cli.terminal.out.drained();
}

/** What has happened, page by page. Errors: not_found. */
async function* pastEvents(client: Client, sessionId: string, after: number): AsyncGenerator<SeenEvent> {
  for (let seen = after; ; ) {
    const query = { after: seen, limit: PAGE };
    const { events = [] } = await client.call(agentTurns.ListSessionEvents, { params: { sessionId }, query });
    if (events.length === 0) return;
    for (const { id = seen + 1, event = {} } of events) {
      yield { id, event };
      seen = id;
    }
  }
}

/** What turns began with, which their events do not say. */
class TurnInputs {
  private known = new Map<number, string>();

  constructor(
    private readonly client: Client,
    private readonly sessionId: string,
  ) {}

  /** Of one turn, made harmless; asks only for turns that are new. */
  async of(turnNumber: number): Promise<string> {
    if (!this.known.has(turnNumber)) {
      const { turns = [] } = await getSession(this.client, this.sessionId);
      this.known = new Map(turns.map((turn) => [turn.turnNumber ?? 0, turn.userInput ?? '']));
    }
    return printable(this.known.get(turnNumber) ?? '');
  }
}
