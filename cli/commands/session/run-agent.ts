import type { Client } from '../../../src/client/client.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import type { Cli } from '../../cli.ts';
import { questionText } from '../chat/question-text.ts';
import { beginTurn, openSession, sessionOf } from './begin.ts';
import { withNext } from './next-command.ts';
import { watchTurn } from './watch-turn.ts';

/** How one turn is run. */
export interface RunOptions {
  /** A session that goes on, in place of a new one. */
  readonly session?: string;
  readonly queue?: true;
  readonly detach?: true;
  readonly wait?: true;
  readonly json?: true;
}

/** Runs one turn of an agent and shows it. Returns the exit code. Errors: invalid_argument; RemoteError. */
export async function runAgent(
  cli: Cli,
  agent: string,
  words: readonly string[],
  options: RunOptions,
): Promise<number | undefined> {
  const text = await inputOf(words);
  return orNext(agent, async () => {
    const client = await cli.client();
    const sessionId = await sessionFor(client, agent, options.session);
    if (!isInteractive(cli) || options.json || options.detach)
      return runPlainly(cli, client, { sessionId, text, options });
    const { AgentChat } = await import('../chat/agent-chat.ts');
    const first = { text, queue: options.queue === true };
    return new AgentChat(cli, client, { agent, sessionId, first }).run();
  });
}

/** Talks with an agent at the terminal. Returns the exit code. Errors: invalid_argument; RemoteError. */
export async function talkToAgent(cli: Cli, agent: string, session: string | undefined): Promise<number> {
  if (!isInteractive(cli))
    throw invalid({
      field: 'terminal',
      description: `cannot be talked at: it is none, or a dumb one. One turn without it: svc session run ${agent} "..."`,
    });
  return orNext(agent, async () => {
    const client = await cli.client();
    const sessionId = await sessionFor(client, agent, session);
    const { AgentChat } = await import('../chat/agent-chat.ts');
    return new AgentChat(cli, client, { agent, sessionId }).run();
  });
}

/** Whether somebody sits at a terminal whose cursor can be moved. */
function isInteractive({ terminal: { out, err }, env }: Cli): boolean {
  return process.stdin.isTTY === true && out.isTty && err.isTty && env.TERM !== 'dumb';
}

async function orNext<T>(agent: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw withNext(error, agent);
  }
}

/** Errors: invalid_argument when there is nothing to say. */
async function inputOf(words: readonly string[]): Promise<string> {
  const isPiped = words.length === 0 || words.includes('-');
  const text = isPiped && process.stdin.isTTY ? '' : await questionText(words);
  if (text.trim() !== '') return text;
  throw invalid({ field: 'words', description: 'are missing: the agent is told nothing' });
}

async function sessionFor(client: Client, agent: string, given: string | undefined): Promise<string> {
  if (given === undefined) return openSession(client, agent);
  return (await sessionOf(client, given, agent)).id ?? given;
}

interface PlainRun {
  readonly sessionId: string;
  readonly text: string;
  readonly options: RunOptions;
}

async function runPlainly(cli: Cli, client: Client, { sessionId, text, options }: PlainRun) {
  const { json = false, wait: waits = false, queue, detach } = options;
  const { err } = cli.terminal;
  const turn = await beginTurn(client, sessionId, text, queue);
  if (!detach) {
    if (err.isTty && !json) cli.terminal.note(err.style.dim(sessionId));
    return watchTurn(cli, client, { sessionId, turn, json, waits });
  }
  cli.terminal.print(json ? JSON.stringify({ sessionId, turnNumber: turn.number }) : sessionId);
  if (err.isTty) cli.terminal.note(`The turn goes on. Watch it: svc session tail ${sessionId}`);
  return undefined;
}
