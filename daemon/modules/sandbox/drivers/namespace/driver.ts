import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fail } from '../../../../../src/errors/app-error.ts';
import type { Box, SandboxDriver } from '../driver.ts';
import { dialNetworkOf } from '../host/dial.ts';
import { removeGroup } from '../host/group-tree.ts';
import { isMounted } from '../host/mounts.ts';
import { run } from '../host/run.ts';
import { readUsage } from '../host/usage.ts';
import { removeBindPlaces } from './box/binds.ts';
import { Boxes } from './box/boxes.ts';
import { asHostFailure } from './box/errors.ts';
import { boxGroup, type Host } from './box/host.ts';
import { isSafeName } from './box/paths.ts';
import { Pool } from './box/pool.ts';
import { clearLeftovers } from './box/reconcile.ts';
import { boxFolders, isRunning, readRecord } from './box/record.ts';
import { attachDetached, forestallDetached, keeperGroup, spawnDetached } from './command/detached.ts';
import { execute } from './command/execute.ts';
import { Starters } from './command/starters.ts';
import { openTerminal } from './command/terminal.ts';
import { probeHost } from './probe.ts';
import { Snapshots } from './snapshot/snapshots.ts';

/** The driver on a host that has what it needs. What a dead daemon left half done is cleared away first. */
export async function namespaceDriver(host: Host, warm: number): Promise<SandboxDriver> {
  const starters = new Starters(host);
  const pool: Pool = new Pool(host, () => boxes, starters, warm);
  const snapshots = new Snapshots(host);
  const boxes = new Boxes(host, (spec, image) => pool.take(spec, image), starters, snapshots);
  /** The first command of a box is on its way before it is asked for. */
  const ready = (box: Box): Box => {
    if (boxes.inspect(box.id).state === 'running') starters.prepare(boxes.running(box.id));
    return box;
  };
  await clearLeftovers(host, boxes);
  await snapshots.sweep();
  pool.adopt();
  return {
    name: 'namespace',
    probe: () => probeHost(host),
    prepareImage: async (image, progress = () => {}, signal) => {
      const prepared = await host.images.prepare(image, { progress, signal });
      return prepared.info;
    },
    create: (spec) => boxes.create(spec).then(ready),
    start: (id, spec) => boxes.start(id, spec).then(ready),
    stop: (id) => boxes.stop(id),
    remove: (id) => boxes.remove(id),
    inspect: async (id) => boxes.inspect(id),
    list: async () => boxes.list(),
    update: (id, limits) => boxes.update(id, limits),
    setNetwork: (id, policy) => boxes.setNetwork(id, policy),
    lookups: (id) => host.network.lookupsOf(id),
    async stats(id) {
      const { record, init } = boxes.running(id);
      return readUsage(host.groups, boxGroup(host, record.containerId), init.pid);
    },
    diskUsage: (id) => boxes.diskUsage(id),
    exec: async (id, spec) => started(() => execute(host, starters, boxes.running(id), spec)),
    spawn: async (id, spec, logPath) => started(() => spawnDetached(host, boxes.running(id), spec, logPath)),
    async attach(id, ref) {
      const record = isSafeName(id) ? readRecord(boxes.dirOf(id)) : undefined;
      return record && attachDetached(host, { dir: boxes.dirOf(id), record }, ref);
    },
    async forestall(id, specId) {
      const record = isSafeName(id) ? readRecord(boxes.dirOf(id)) : undefined;
      return record !== undefined && forestallDetached({ dir: boxes.dirOf(id), record }, specId);
    },
    openTerminal: async (id, spec, size) =>
      started(() => openTerminal(host, starters, boxes.running(id), spec, size)),
    dial: async (id, port) => dialNetworkOf(boxes.running(id).init, port),
    hostProcess: async (id) => boxes.running(id).init.pid,
    snapshot: (id, snapshotId, options) => boxes.snapshot(id, snapshotId, options?.passing),
    snapshotImage: (image, snapshotId) => snapshots.makeOfImage(image, snapshotId),
    removeSnapshot: (snapshotId) => snapshots.remove(snapshotId),
    listSnapshots: () => snapshots.list(),
    archive: (id, file) => boxes.archive(id, file),
    unarchive: (spec, file) => boxes.unarchive(spec, file),
    async close() {
      await starters.close();
      await pool.close();
      await letGo(host);
    },
  };
}

/** The driver on a host that it cannot work on: it says so. */
export function unusableDriver(
  options: { dataDir: string; instance: string },
  reason: string,
): SandboxDriver {
  const refuse = async (): Promise<never> => {
    throw fail('runtime_missing', { message: reason });
  };
  return {
    name: 'namespace',
    probe: () => probeHost(options, reason),
    prepareImage: refuse,
    create: refuse,
    start: refuse,
    stop: refuse,
    remove: refuse,
    inspect: async (id) => ({ id, containerId: '', state: 'missing' }),
    list: async () => [],
    update: refuse,
    setNetwork: refuse,
    lookups: () => [],
    stats: refuse,
    diskUsage: refuse,
    exec: refuse,
    spawn: refuse,
    attach: async () => undefined,
    forestall: async () => false,
    openTerminal: refuse,
    dial: refuse,
    hostProcess: refuse,
    snapshot: refuse,
    snapshotImage: refuse,
    removeSnapshot: refuse,
    listSnapshots: async () => [],
    archive: refuse,
    unarchive: refuse,
    close: async () => {},
  };
}

async function started<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    throw asHostFailure(error, 'Starting the command');
  }
}

/** Gives back what is only there for boxes, as far as no box is left that uses it. */
async function letGo(host: Host): Promise<void> {
  const records = boxFolders(host.layout).flatMap(({ dir }) => readRecord(dir) ?? []);
  const running = records.filter(isRunning);
  await host.network.close(running.length === 0);
  await host.images.release(new Set(running.flatMap(({ layers }) => layers)));
  if (running.length > 0) return;
  removeBindPlaces(host);
  await rmdir(host.runDir).catch(() => {});
  for (const path of [`/svc-${host.instance}`, `/svc-${host.instance}-commands`, keeperGroup(host)])
    await removeGroup(host.groups, path);
  const ownTree = join(host.layout.shared, 'cgroup');
  if (isMounted(ownTree))
    await run(['umount', ownTree])
      .then(() => rmdir(ownTree))
      .catch(() => {});
}
