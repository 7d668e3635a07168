import { fail } from '../../src/errors/app-error.ts';
import { waitForEnd } from './process.ts';
import type { DaemonRecord } from './record.ts';

const KILLED_WITHIN_MS = 5_000;

/**
 * Asks a daemon to stop and waits until it is gone; with `force` it is killed when it is not gone by then.
 * Errors: failed_precondition when it goes on.
 */
export async function stopDaemon(record: DaemonRecord, withinMs: number, force: boolean): Promise<void> {
  process.kill(record.pid, 'SIGTERM');
  if (await waitForEnd(record.pid, record.mark, withinMs)) return;
  if (force) {
    process.kill(record.pid, 'SIGKILL');
    if (await waitForEnd(record.pid, record.mark, KILLED_WITHIN_MS)) return;
  }
  const message = `The daemon (pid ${record.pid}) has not ended yet. End it at once: svc down --force`;
  throw fail('failed_precondition', { message });
}
