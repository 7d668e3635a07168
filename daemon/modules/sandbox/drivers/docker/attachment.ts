import type { Duplex } from 'node:stream';
import type { Exec } from 'dockerode';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { ExecSpec, Exit, TerminalSize } from '../driver.ts';
import type { OpenBox } from './boxes.ts';
import { commandLine } from './command-line.ts';
import { type Engine, engineError } from './engine.ts';
import { exitOf } from './exit.ts';
import type { ExitWatch } from './exit-watch.ts';
import { type Signal, signalCommand, signalMarked } from './kill.ts';
import { type Marks, onlyMark } from './marks.ts';
import { Pump, type Sized } from './pump.ts';

const KEPT_WORDS = 2_000;
/**
 * The engine tells of no end in a box while it waits for the reader of an ended command. So the end of a
 * command whose output is not read is asked for.
 */
const STALL_CHECK_MS = 250;

/** What commands are run with. */
export interface CommandTools {
  readonly engine: Engine;
  readonly watch: ExitWatch;
  readonly marks: Marks;
}

/** How the streams of a command are connected. */
export interface Wiring<T extends Sized> {
  readonly stdin: boolean;
  /** A terminal of this size in place of pipes. */
  readonly terminal?: TerminalSize;
  readonly parse: (part: Uint8Array) => readonly T[];
}

/** A command of a caller that was started. */
export interface Attachment<T extends Sized> {
  readonly exec: Exec;
  readonly output: Pump<T>;
  readonly exited: Promise<Exit>;
  write(bytes: Uint8Array): Promise<void>;
  endInput(): Promise<void>;
  kill(signal: Signal): Promise<void>;
}

/** Starts a command and holds its streams. Errors: not_found, failed_precondition, invalid_argument, unavailable. */
export async function startAttached<T extends Sized>(
  tools: CommandTools,
  box: OpenBox,
  spec: ExecSpec,
  wiring: Wiring<T>,
): Promise<Attachment<T>> {
  const mark = tools.marks.owned(spec.id);
  const { exec, socket } = await connect(tools, box, spec, wiring, mark).catch((error) => {
    throw engineError(error, box.id);
  });
  let words = '';
  const output = new Pump(socket, (part) => {
    const items = wiring.parse(part);
    for (const { bytes } of items) if (words.length < KEPT_WORDS) words += decode(bytes);
    return items;
  });
  const ended = tools.watch.wait(exec.id);
  void output.ended.then(() => tools.watch.check(exec.id));
  const exited = ended.then(async (end) => {
    if (!end) await endForgotten(box, mark);
    return exitOf(end, box.folder, spec.id, words);
  });
  const stalls = setInterval(() => output.isStalled && void tools.watch.check(exec.id), STALL_CHECK_MS);
  stalls.unref();
  void exited.then(() => {
    clearInterval(stalls);
    output.drain();
  });
  return {
    exec,
    output,
    exited,
    write: (bytes) => write(socket, bytes),
    endInput: () => endInput(socket),
    kill: (signal) => {
      if (signal === 'SIGKILL') output.drain();
      return killCommand(tools.watch, { box, execId: exec.id, mark, exited }, signal);
    },
  };
}

/** A command that can be signalled. */
export interface KillTarget {
  readonly box: OpenBox;
  readonly execId: string;
  readonly mark: number;
  readonly exited: Promise<Exit>;
}

/** Signals the processes of a command, unless it is over. */
export async function killCommand(watch: ExitWatch, target: KillTarget, signal: Signal): Promise<void> {
  const { box, execId, mark, exited } = target;
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  if (signal === 'SIGKILL') watch.expectKill(execId);
  await signalCommand(box, onlyMark(mark), signal, async () => {
    await watch.check(execId);
    return isOver;
  });
}

/** An engine that restarts under running boxes forgets their commands, and ours end with what held them. */
async function endForgotten({ container }: OpenBox, mark: number): Promise<void> {
  await signalMarked(container, onlyMark(mark), 'SIGKILL').catch(() => {});
}

async function connect<T extends Sized>(
  tools: CommandTools,
  box: OpenBox,
  spec: ExecSpec,
  { stdin, terminal }: Wiring<T>,
  mark: number,
): Promise<{ exec: Exec; socket: Duplex }> {
  const Tty = terminal !== undefined;
  const streams = { AttachStdin: stdin, AttachStdout: true, AttachStderr: true, Tty };
  const command = commandLine(box, spec, { mark, terminal });
  const [exec] = await Promise.all([box.container.exec({ ...command, ...streams }), tools.watch.connect()]);
  return { exec, socket: (await exec.start({ hijack: true, stdin, Tty })) as Duplex };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, KEPT_WORDS));
}

/** Resolves when the kernel took the bytes; rejects when the command takes no more. */
function write(socket: Duplex, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(fail('failed_precondition', { message: 'The command takes no more input.' }));
    if (socket.destroyed || socket.writableEnded) return refuse();
    socket.once('close', refuse);
    socket.write(bytes, (error) => {
      socket.off('close', refuse);
      if (error) refuse();
      else resolve();
    });
  });
}

function endInput(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || socket.writableEnded) return resolve();
    socket.once('close', () => resolve());
    socket.end(() => resolve());
  });
}
