import { Database as Sqlite } from 'bun:sqlite';
import { join } from 'node:path';
import { fail } from '../src/errors/app-error.ts';

/**
 * Holds the data directory for one daemon. The lock is the kernel's, on an SQLite file, so that it is
 * free again the moment the process is gone, however that happened. Returns the function that lets go.
 * Errors: failed_precondition when another daemon holds it.
 */
export function lockDataDir(dataDir: string): () => void {
  const lock = new Sqlite(join(dataDir, 'daemon.lock'), { create: true });
  try {
    lock.run('PRAGMA locking_mode = EXCLUSIVE');
    lock.run('BEGIN EXCLUSIVE');
  } catch {
    lock.close();
    throw fail('failed_precondition', {
      message: `Another svc daemon uses ${dataDir}. Look at it with: svc status; or choose another directory: --data-dir DIR`,
    });
  }
  return () => lock.close();
}
