import { CROWD_ENV } from './crowd-env.ts';
import { ownCommand } from './start.ts';

/**
 * Begins this program again, in the same process, with room for a crowd of calls of models; does nothing when it
 * has it, or where a process cannot be replaced (execve(2)).
 */
export function makeRoomForCrowd(env: Readonly<Record<string, string | undefined>>): void {
  if (env.BUN_CONFIG_MAX_HTTP_REQUESTS !== undefined || process.platform === 'win32') return;
  const [program = process.execPath, ...script] = ownCommand();
  const own = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  process.execve?.(program, [program, ...process.execArgv, ...script, ...process.argv.slice(2)], {
    ...own,
    ...CROWD_ENV,
  });
}
