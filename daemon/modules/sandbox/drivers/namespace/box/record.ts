import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageInfo, Limits, NetworkPolicy } from '../../driver.ts';
import { readJson, writeWhole } from '../../host/files.ts';
import { isAlive, type ProcessMark } from '../../host/process.ts';
import { readPolicy } from '../../network/policy.ts';
import { boxPaths, type Layout } from './paths.ts';

/** What the driver writes down about a box. It is all that it knows: memory only caches. */
export interface BoxRecord {
  readonly id: string;
  readonly containerId: string;
  /** `making` until it ran for the first time; `warm` while it waits in the pool; `made` from then on. */
  readonly phase: 'making' | 'warm' | 'made';
  /** The daemon that makes it: when it is gone, what it was making is waste. */
  readonly maker: ProcessMark | undefined;
  readonly image: ImageInfo;
  readonly env: Readonly<Record<string, string>>;
  readonly workDir: string;
  readonly limits: Limits;
  readonly network: NetworkPolicy;
  /** The read-only layers that it stands on. */
  readonly layers: readonly string[];
  /** PID 1 of the box, seen from the host; absent when it is stopped. */
  readonly init?: ProcessMark;
  /** Its place in the subnet, when it is connected. */
  readonly address?: number;
  /** The host's end of its cable, when it is connected; a box of an older version does not say. */
  readonly port?: string;
}

/** The record of a box; undefined when there is none. */
export function readRecord(dir: string): BoxRecord | undefined {
  const record = readJson<BoxRecord>(boxPaths(dir).record);
  return record && { ...record, network: readPolicy(record.network) };
}

/** Writes the record of a box as a whole. */
export function writeRecord(dir: string, record: BoxRecord): void {
  writeWhole(boxPaths(dir).record, JSON.stringify(record));
}

/** The folders of all boxes, also of those without a record. */
export function boxFolders(layout: Layout): Array<{ name: string; dir: string }> {
  try {
    return readdirSync(layout.boxes, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => ({ name, dir: join(layout.boxes, name) }));
  } catch {
    return [];
  }
}

/** Whether the box of a record runs. */
export function isRunning(record: BoxRecord): boolean {
  return isAlive(record.init);
}
