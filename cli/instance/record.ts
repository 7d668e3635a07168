import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readText, writePrivate } from '../context/private-file.ts';
import { processMark } from './process.ts';

/** What a running daemon leaves in its data directory, so that the CLI finds it. */
export interface DaemonRecord {
  readonly pid: number;
  /** Tells this process from a later one with the same pid. */
  readonly mark: string;
  readonly url: string;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

const FILE = 'daemon.json';

/** The record in a data directory; undefined when there is none that can be read. */
export function readDaemonRecord(dir: string): DaemonRecord | undefined {
  try {
    const value: unknown = JSON.parse(readText(join(dir, FILE)) ?? 'null');
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The record of a daemon that is alive: its process is still the one that wrote it. */
export function runningDaemon(dir: string): DaemonRecord | undefined {
  const record = readDaemonRecord(dir);
  return record && processMark(record.pid) === record.mark ? record : undefined;
}

/** Records this process as the daemon of a data directory. */
export function writeDaemonRecord(dir: string, record: DaemonRecord): void {
  writePrivate(join(dir, FILE), `${JSON.stringify(record)}\n`);
}

/** Removes the record of this process; that of another one stays. */
export function removeDaemonRecord(dir: string, pid: number): void {
  if (readDaemonRecord(dir)?.pid === pid) rmSync(join(dir, FILE), { force: true });
}

function isRecord(value: unknown): value is DaemonRecord {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    'mark' in value &&
    typeof value.mark === 'string' &&
    'url' in value &&
    typeof value.url === 'string'
  );
}
