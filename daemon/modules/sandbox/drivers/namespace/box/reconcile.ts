import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../host/process.ts';
import { run } from '../../host/run.ts';
import type { Boxes } from './boxes.ts';
import type { Host } from './host.ts';
import { boxFolders, readRecord } from './record.ts';

/**
 * Clears away what a daemon left that died at its work: boxes that were half made or half handed out, and
 * folders that were being deleted. What another daemon is making right now stays.
 */
export async function clearLeftovers(host: Host, boxes: Boxes): Promise<void> {
  const places = new Set<number>();
  for (const { name, dir } of boxFolders(host.layout)) {
    const record = readRecord(dir);
    const unfinished = record?.phase === 'making' && !isAlive(record.maker);
    const misplaced = record !== undefined && record.id !== name && !isAlive(record.maker);
    if (unfinished || misplaced || !record) {
      host.log('info', 'a half-made sandbox is removed', { name });
      await boxes.discard(dir);
    } else if (record.address !== undefined) places.add(record.address);
  }
  host.network.keepOnly(places);
  const trash = readdirSync(host.layout.boxes).filter((name) => name.startsWith('.trash-'));
  for (const name of trash) await run(['rm', '-rf', '--', join(host.layout.boxes, name)]);
}
