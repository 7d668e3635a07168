import type { Duplex } from 'node:stream';
import type { Container } from 'dockerode';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { OpenBox } from './boxes.ts';
import { engineError, hasStatus } from './engine.ts';
import type { MarkRange } from './marks.ts';
import { Pump } from './pump.ts';
import { SCRIPTS } from './scripts.ts';

/** The signals that a command can be sent. */
export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP';

const NOTHING: MarkRange = { low: 0, high: 0 };
const NONE_FOUND = 3;
const SOME_LEFT = 1;
const ANSWER_MS = 20_000;
const AGAIN_MS = 20;
const MAX_TRIES = 200;

/**
 * Signals all processes in a box whose marks are in a range, from inside, as root of the box: the client of
 * an exec has no power over its process, and a process id of the host may be another's by now.
 * @returns whether there were any. Errors: unavailable when the box does not answer.
 */
export async function signalMarked(
  container: Container,
  range: MarkRange,
  signal: Signal,
  spare: MarkRange = NOTHING,
): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const code = await runKillScript(container, range, signal.slice('SIG'.length), spare);
    if (code === NONE_FOUND || code === 0) return code === 0;
    if (code !== SOME_LEFT)
      throw fail('unavailable', { message: `Signals cannot be sent in this box (${code}).` });
    await Bun.sleep(AGAIN_MS);
  }
  throw fail('unavailable', { message: 'Processes of the command do not end.' });
}

/**
 * Signals a command that was started. It may not bear its mark yet: as long as it is alive and nothing is
 * found, this looks again.
 */
export async function signalCommand(
  { id, container }: OpenBox,
  range: MarkRange,
  signal: Signal,
  isOver: () => Promise<boolean>,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (await isOver()) return;
    try {
      if (await signalMarked(container, range, signal)) return;
    } catch (error) {
      if (hasStatus(error, 404) || hasStatus(error, 409)) return;
      throw engineError(error, id);
    }
    await Bun.sleep(AGAIN_MS);
  }
}

/** Whether a process in the box bears a mark of the range. */
export async function hasMarked(container: Container, range: MarkRange): Promise<boolean> {
  return (await runKillScript(container, range, '0', NOTHING)) === 0;
}

async function runKillScript(
  container: Container,
  range: MarkRange,
  signal: string,
  spare: MarkRange,
): Promise<number> {
  const bounds = [range.low, range.high, spare.low, spare.high].map(String);
  const Cmd = ['/bin/sh', '-c', SCRIPTS.kill, 'svc-kill', ...bounds, signal];
  const exec = await container.exec({ Cmd, User: '0:0', WorkingDir: '/', AttachStdout: true });
  const socket = (await exec.start({ hijack: true, stdin: false })) as Duplex;
  const output = new Pump(socket, () => []);
  const late = setTimeout(() => output.close(), ANSWER_MS);
  await output.ended;
  clearTimeout(late);
  const { Running: isRunning, ExitCode: code } = await exec.inspect();
  if (isRunning || code === null) throw fail('unavailable', { message: 'The box does not answer.' });
  return code;
}
