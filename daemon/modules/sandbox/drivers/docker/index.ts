import { join, resolve } from 'node:path';
import { AppError, invalid } from '../../../../../src/errors/app-error.ts';
import type { Detached, SandboxDriver } from '../driver.ts';
import { readPolicy } from '../network/policy.ts';
import type { CommandTools } from './attachment.ts';
import { Boxes, type OpenBox } from './boxes.ts';
import { findDetached, startDetached } from './detached.ts';
import { Doors } from './doors.ts';
import { EgressGuard } from './egress-guard.ts';
import { connectEngine, whyElsewhere } from './engine.ts';
import { execute, runOnTerminal } from './execution.ts';
import { ExitWatch } from './exit-watch.ts';
import { Images } from './image.ts';
import { ALL_OWNED, newMarks } from './marks.ts';
import { removeUnusedVolumes } from './mounts.ts';
import { namesOf } from './names.ts';
import { InstanceNetwork } from './network.ts';
import type { DockerDriverOptions } from './options.ts';
import { probeEngine } from './probe.ts';
import { Snapshots } from './snapshots.ts';
import { Stages } from './stages.ts';
import { onceItMoves } from './standstill.ts';
import { readStats } from './stats.ts';
import { Takeover } from './takeover.ts';

export type { DockerDriverOptions } from './options.ts';

/** A driver whose boxes are containers of a Docker engine. Errors: invalid_argument (instance, dataDir). */
export function createDockerDriver(options: DockerDriverOptions): SandboxDriver {
  const dataDir = checkDataDir(options.dataDir);
  const names = namesOf(options.instance);
  const engine = connectEngine(options.socketPath);
  const marks = newMarks();
  const images = new Images(engine, options, names);
  const { nameServers, log } = options;
  const portFile = join(dataDir, 'docker', 'dns-port');
  const guard = new EgressGuard({ names, portFile, nameServers, log });
  const network: InstanceNetwork = new InstanceNetwork({
    engine,
    names,
    guard,
    allowUnguarded: options.allowUnguardedNetwork ?? false,
    policyOf: async (id) => readPolicy((await boxes.open(id).catch(() => undefined))?.record.network),
  });
  const takeover = new Takeover(ALL_OWNED, marks.ours, options.log);
  const onStart = (id: string) => takeover.isDone(id);
  const stages = new Stages(names.instance);
  const boxes: Boxes = new Boxes({ engine, names, dataDir, images, network, stages, onStart });
  const snapshots = new Snapshots({ engine, names, images, boxes });
  const doors = new Doors(boxes);
  const watch = new ExitWatch(engine, names.instance);
  const tools: CommandTools = { engine, watch, marks };
  const open = async (id: string): Promise<OpenBox> => {
    const box = await boxes.open(id);
    await takeover.of(box);
    return box;
  };
  const inBox = <T>(id: string, work: (box: OpenBox) => Promise<T>): Promise<T> =>
    onceItMoves(boxes.container(id), async () => work(await open(id)));
  return {
    name: 'docker',
    probe: () => probeEngine(engine, images, options),
    prepareImage: (image, progress, signal) => images.prepare(image, progress, signal),
    create: (spec) => boxes.create(spec),
    start: (id, spec) => boxes.start(id, spec),
    stop: (id) => boxes.stop(id),
    remove: async (id) => {
      takeover.forget(id);
      doors.forget(id);
      await boxes.remove(id);
      await snapshots.sweep();
      await removeUnusedVolumes(engine, names);
    },
    inspect: (id) => boxes.inspect(id),
    list: () => boxes.list(),
    update: (id, limits) => boxes.update(id, limits),
    setNetwork: (id, policy) => boxes.setNetwork(id, policy),
    lookups: (id) => network.lookupsOf(id),
    stats: async (id) => readStats(boxes.container(id), id),
    diskUsage: (id) => boxes.diskUsage(id),
    exec: (id, spec) => inBox(id, (box) => execute(tools, box, spec)),
    spawn: (id, spec, logPath) => inBox(id, (box) => startDetached(tools, box, spec, logPath)),
    attach: async (id, ref) => attach(tools, () => open(id), ref),
    // The engine may still be at it.
    forestall: async () => false,
    openTerminal: (id, spec, size) => inBox(id, (box) => runOnTerminal(tools, box, spec, size)),
    dial: (id, port) => doors.dial(id, port),
    hostProcess: (id) => doors.hostProcess(id),
    snapshot: (id, snapshotId) => snapshots.make(id, snapshotId),
    snapshotImage: (image, snapshotId) => snapshots.makeOfImage(image, snapshotId),
    removeSnapshot: (snapshotId) => snapshots.remove(snapshotId),
    listSnapshots: () => snapshots.list(),
    archive: (id, file) => snapshots.archive(id, file),
    unarchive: (spec, file) => snapshots.unarchive(spec, file),
    whyNoHostMounts: () => whyElsewhere(engine),
    async close() {
      watch.close();
      await network.close();
    },
  };
}

/** The engine's syntax for a mounted folder has no way to write a colon. */
function checkDataDir(path: string): string {
  if (path.includes(':')) throw invalid({ field: 'dataDir', description: 'cannot have a colon in its path' });
  return resolve(path);
}

/** A box that is gone has no commands. */
async function attach(
  tools: CommandTools,
  open: () => Promise<OpenBox>,
  ref: string,
): Promise<Detached | undefined> {
  try {
    return await findDetached(tools, await open(), ref);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}
