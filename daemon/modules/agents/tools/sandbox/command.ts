import { AppError, fail } from '../../../../../src/errors/app-error.ts';
import { newId } from '../../../../../src/kit/id.ts';
import { type Clock, DAY_MS } from '../../../../../src/kit/time.ts';
import type { CommandEnd, WorkSandboxes } from '../../../sandbox/index.ts';
import { failed, type ToolContext, type ToolOutcome } from '../tool.ts';
import { writeText } from './files.ts';
import type { Place, SessionSandboxes } from './session-sandbox.ts';

/** What the tools of a sandbox stand on. */
export interface SandboxParts {
  readonly clock: Clock;
  readonly own: WorkSandboxes;
  readonly places: SessionSandboxes;
}

/** A command that a tool runs. */
export interface Planned {
  readonly command: string;
  /** What those who watch are shown of it. */
  readonly shown: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Files that have to be there before it starts, and go with its end. */
  readonly files?: ReadonlyArray<{ readonly path: string; readonly text: string }>;
  /** Further files that go with its end. */
  readonly made?: readonly string[];
}

/** What is written down of a command before it starts. */
interface Note {
  readonly sandboxId: string;
  readonly commandId: string;
  readonly at: number;
  /** The files that go with its end. */
  readonly files: readonly string[];
}

/** How a tool begins its command in a place. */
export type Plan = (place: Place, commandId: string) => Planned | Promise<Planned>;

/** Bytes of output that a result can have; what a model reads of it is capped later. */
const MOST_OUTPUT = 4 * 1024 * 1024;
/** Rows of commands are kept longer than this: without one, a younger command was never started. */
const KNOWN_MS = 7 * DAY_MS;

/**
 * Runs the command of a call: it belongs to the sandbox, outlives the daemon, and its id is written down before it starts.
 * Cancelled, it is killed with all it has started. Errors: cancelled, and those of the sandbox.
 */
export async function runCommand(
  parts: SandboxParts,
  context: ToolContext,
  plan: Plan,
): Promise<ToolOutcome> {
  const { own, places, clock } = parts;
  const place = await places.ready(context);
  const { tenant, sandboxId } = place;
  const commandId = newId('cmd', clock.now());
  const planned = await plan(place, commandId);
  const { command, shown, cwd, env, timeoutMs, files = [], made = [] } = planned;
  const note: Note = {
    sandboxId,
    commandId,
    at: clock.now(),
    files: [...files.map(({ path }) => path), ...made],
  };
  context.note(JSON.stringify(note));
  if (context.signal.aborted) throw fail('cancelled');
  context.tell({ type: 'sandbox.exec', sandboxId, toolArgs: shown });
  try {
    const where = { tenant, sandbox: sandboxId };
    for (const { path, text } of files) await writeText(own.files, where, path, text);
    await own.commands.begin(tenant, sandboxId, commandId, { command, cwd, env, timeoutMs });
  } catch (error) {
    if (error instanceof AppError) context.tell({ type: 'sandbox.error', sandboxId, error: error.message });
    throw error;
  }
  const end = await awaitEnd(parts, context, note);
  if (!end) throw fail('internal');
  if (isNotStarted(end)) places.forgetHome(place);
  const outcome = outcomeOf(end);
  return place.news === '' ? outcome : { ...outcome, output: `${place.news}\n${outcome.output}` };
}

/**
 * What became of a command that was cut off with the daemon: it goes on, and its end is waited for; it never runs twice. One that
 * was never started, which an empty note says too, is run. Undefined: its start was cut off, and nobody knows.
 */
export async function recoverCommand(
  parts: SandboxParts,
  context: ToolContext,
  text: string,
  plan: Plan,
): Promise<ToolOutcome | undefined> {
  if (text === '') return runCommand(parts, context, plan);
  const note = JSON.parse(text) as Note;
  const end = await awaitEnd(parts, context, note);
  if (!end) return parts.clock.now() - note.at < KNOWN_MS ? runCommand(parts, context, plan) : undefined;
  return end.hasBegun ? outcomeOf(end) : undefined;
}

async function awaitEnd(
  { own }: SandboxParts,
  { caller, signal, tell }: ToolContext,
  { sandboxId, commandId, files }: Note,
): Promise<CommandEnd | undefined> {
  const { tenant } = caller;
  const kill = () => void own.commands.kill(commandId).catch(() => undefined);
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  try {
    const end = await own.commands.ended(tenant, sandboxId, commandId, { most: MOST_OUTPUT, signal });
    const where = { tenant, sandbox: sandboxId };
    for (const path of files) await own.files.remove(where, path).catch(() => undefined);
    if (signal.aborted) throw fail('cancelled');
    if (end) tellEnd(tell, sandboxId, end);
    return end;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

function tellEnd(tell: ToolContext['tell'], sandboxId: string, end: CommandEnd): void {
  const sandboxDurationMs = String(end.durationMs);
  if (end.exitCode === null)
    tell({ type: 'sandbox.error', sandboxId, sandboxDurationMs, error: end.reason ?? 'lost' });
  else tell({ type: 'sandbox.result', sandboxId, sandboxExitCode: end.exitCode, sandboxDurationMs });
}

/** The directory that it should start in is not there, or the like. */
function isNotStarted({ exitCode, reason }: CommandEnd): boolean {
  return (exitCode === 126 || exitCode === 127) && reason !== undefined;
}

/** The end of a command in the words that a model reads: how it ended first, then what it has printed. */
function outcomeOf({ exitCode, reason, durationMs, output }: CommandEnd): ToolOutcome {
  const printed = Bun.stripANSI(output);
  const shown = printed === '' ? '(no output)' : printed;
  const time = durationMs < 1_000 ? `${durationMs} ms` : `${(durationMs / 1_000).toFixed(1)} s`;
  if (exitCode === null)
    return failed(
      `cut off after ${time}: ${reason ?? 'nobody knows how it ended'}. What it had printed:\n${shown}`,
    );
  const why = reason === undefined ? '' : ` (${reason})`;
  return { ok: exitCode === 0, output: `exit code ${exitCode}${why} after ${time}\n${shown}` };
}
