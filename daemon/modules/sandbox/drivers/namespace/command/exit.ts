import { constants } from 'node:os';
import type { Exit } from '../../driver.ts';
import { runtimeError } from '../box/runtime-log.ts';

const SIGNALLED = 128;
/** What runtimes exit with when they could not start the program: crun 255, runc 255 or 1. */
const RUNTIME_FAILED = [255, 1];
const CANNOT_RUN = 126;
const NOT_FOUND = 127;

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/**
 * How a command ended, from what the runtime that waited for it exited with. Runtimes, like shells, say
 * 128 + n for signal n; a program that itself exits so cannot be told apart.
 */
export function exitOf(code: number, runtimeLog: string): Exit {
  const said = isRuntimeFailure(code) ? runtimeError(runtimeLog) : undefined;
  if (said !== undefined) return { code: isMissing(said) ? NOT_FOUND : CANNOT_RUN, startError: said };
  const signal = SIGNAL_NAMES.get(code - SIGNALLED);
  return signal === undefined ? { code } : { code, signal };
}

/** Whether a runtime that could not start a program would exit so. */
export function isRuntimeFailure(code: number): boolean {
  return RUNTIME_FAILED.includes(code);
}

/** The code of a process that was waited for: its own, or 128 + n when signal n ended it. */
export function codeOf(child: Pick<Bun.Subprocess, 'exitCode' | 'signalCode'>): number {
  if (child.exitCode !== null) return child.exitCode;
  if (typeof child.signalCode === 'number') return SIGNALLED + child.signalCode;
  return SIGNALLED + (child.signalCode ? constants.signals[child.signalCode] : 0);
}

function isMissing(message: string): boolean {
  return /no such file or directory|not found/i.test(message) && !/chdir|cwd/i.test(message);
}
