import type { Client } from '../../../src/client/client.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import type { Cli } from '../../cli.ts';
import { printable } from '../../ui/table.ts';
import type { BegunTurn } from './begin.ts';
import { argsText, harmless } from './call-text.ts';
import { questionOf } from './event-view.ts';
import { type AgentEvent, sessionEvents } from './feed.ts';
import { PlainPrinter } from './plain-printer.ts';
import { ndjson } from './shown.ts';

/** How a turn is watched. */
export interface WatchWish {
  readonly sessionId: string;
  readonly turn: BegunTurn;
  readonly json: boolean;
  /** Waits for people, in place of leaving. */
  readonly waits: boolean;
}

/**
 * Watches a turn to its end. On a terminal its words come as they are said; in a pipe stands its output alone, once it is there.
 * Answers the exit code: 1 when it failed, 6 when it waits for a person and nobody is to be waited for.
 */
export async function watchTurn(cli: Cli, client: Client, wish: WatchWish): Promise<number> {
  const { sessionId, turn, json, waits } = wish;
  const { out, err } = cli.terminal;
  const printer = out.isTty ? new PlainPrinter({ words: out, lines: err, full: false }) : undefined;
  const onConnection = (isThere: boolean) => err.isTty && cli.terminal.note(connectionText(isThere));
  const leaving = new AbortController();
  process.once('SIGINT', () => leaving.abort());
  const feed = { sessionId, after: turn.after, onConnection, signal: leaving.signal };
  for await (const { id, event } of sessionEvents(client, feed)) {
    const isMine = event.turnNumber === turn.number || event.type === 'session.end';
    if (!isMine) continue;
    if (json) cli.terminal.print(ndjson(id, event));
    else await printer?.take(event);
    if (event.type === 'turn.end') return ended(cli, sessionId, event, json);
    if (!waits && isWaiting(event)) {
      await printer?.end();
      for (const line of waitingLines(sessionId, event, id)) cli.terminal.note(line);
      return EXIT.conflict;
    }
  }
  if (!leaving.signal.aborted) return EXIT.error;
  await printer?.end();
  cli.terminal.note(`The turn goes on. Watch it: svc session tail ${sessionId}`);
  return EXIT.interrupted;
}

/** What is said when the connection is lost, and when it is there again. */
export function connectionText(isThere: boolean): string {
  return isThere ? '(connected again)' : '(the connection is lost; the turn goes on; connecting again)';
}

const isWaiting = ({ type }: AgentEvent) => type === 'approval.requested' || type === 'user_input.requested';

function ended(cli: Cli, sessionId: string, { error = '', turn = {} }: AgentEvent, json: boolean): number {
  const { out } = cli.terminal;
  const isCompleted = turn.status === 'TURN_STATUS_COMPLETED';
  if (!out.isTty && !json && isCompleted) out.write(lastLineEnded(turn.assistantOutput ?? ''));
  if (isCompleted) return EXIT.ok;
  const { style } = cli.terminal.err;
  cli.terminal.note(`${style.red('error:')} The turn failed: ${printable(error)}`);
  cli.terminal.note(`${style.cyan('hint:')} svc session show ${sessionId}`);
  return EXIT.error;
}

const lastLineEnded = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

function waitingLines(sessionId: string, event: AgentEvent, id: number): string[] {
  const goOn = `svc session tail ${sessionId} --after ${id}`;
  if (event.type === 'user_input.requested')
    return [
      `The agent asks: ${harmless(questionOf(event).question)}`,
      `Answer:  svc session steer ${sessionId} "..."`,
      `Watch:   ${goOn}`,
    ];
  const calls = (event.pendingToolCalls ?? []).map(
    ({ toolName = '', toolArgs = '' }) => `  ${harmless(toolName)} ${argsText(toolName, toolArgs)}`,
  );
  return [
    `The agent needs approval (${event.reviewId}):`,
    ...calls,
    `Decide:  svc session approve ${sessionId}   or   svc session deny ${sessionId} --reason WHY`,
    `Watch:   ${goOn}`,
  ];
}
