import { constants } from 'node:os';
import type { Exit } from '../driver.ts';
import type { BoxFolder } from './box-folder.ts';
import type { ExecEnd } from './exit-watch.ts';

const SIGNAL_BASE = 128;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
const NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** An exit code as the engine gives it: above 128 it stands for a signal that exists. */
export function exitOfCode(code: number): Exit {
  const signal = NAMES.get(code - SIGNAL_BASE);
  return signal ? { code, signal } : { code };
}

/** What is known when the engine does not know an exec: its box was removed or the engine went, with SIGKILL. */
export const LOST: Exit = { code: SIGNAL_BASE + constants.signals.SIGKILL, signal: 'SIGKILL' };

/**
 * How a command ended. @param end what the engine says; @param words what it wrote in place of output when it
 * could not start the command
 */
export async function exitOf(
  end: ExecEnd | undefined,
  folder: BoxFolder,
  commandId: string,
  words = '',
): Promise<Exit> {
  if (!end) return LOST;
  const { code } = end;
  if (!end.started)
    return {
      code: code === NOT_FOUND ? code : NOT_EXECUTABLE,
      startError: words.trim() || 'the engine could not start it',
    };
  if (code === NOT_EXECUTABLE || code === NOT_FOUND) {
    const startError = await folder.takeComplaint(commandId);
    return startError ? { code, startError } : { code };
  }
  return end.outOfMemory ? { ...exitOfCode(code), outOfMemory: true } : exitOfCode(code);
}
