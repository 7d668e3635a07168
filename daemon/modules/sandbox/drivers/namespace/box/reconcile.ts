import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../host/process.ts';
import { run } from '../../host/run.ts';
import type { Attached } from '../../network/network.ts';
import { letGoOn } from '../snapshot/still.ts';
import { unstage } from './binds.ts';
import type { Boxes } from './boxes.ts';
import type { Host } from './host.ts';
import { boxPaths } from './paths.ts';
import { boxFolders, isRunning, readRecord } from './record.ts';

/**
 * Clears away what a daemon left that died at its work: boxes that were half made or half handed out, and
 * folders that were being deleted. What another daemon is making right now stays.
 */
export async function clearLeftovers(host: Host, boxes: Boxes): Promise<void> {
  const places = new Set<number>();
  const attached: Attached[] = [];
  for (const { name, dir } of boxFolders(host.layout)) {
    const record = readRecord(dir);
    await unstage(boxPaths(dir));
    const unfinished = record?.phase === 'making' && !isAlive(record.maker);
    const misplaced = record !== undefined && record.id !== name && !isAlive(record.maker);
    if (unfinished || misplaced || !record) {
      host.log('info', 'a half-made sandbox is removed', { name });
      await boxes.discard(dir);
      continue;
    }
    const { id, init, address, port, network: policy } = record;
    if (address !== undefined) places.add(address);
    if (!init || !isRunning(record)) continue;
    if (address !== undefined) attached.push({ id, pid: init.pid, address, port, policy });
    await letGoOn(host, record.containerId);
  }
  await host.network.adopt(attached, places);
  const trash = readdirSync(host.layout.boxes).filter((name) => name.startsWith('.trash-'));
  for (const name of trash) await run(['rm', '-rf', '--', join(host.layout.boxes, name)]);
}
