import { resolve } from 'node:path';
import { AppError, invalid } from '../../../../../src/errors/app-error.ts';
import type { Detached, SandboxDriver } from '../driver.ts';
import type { CommandTools } from './attachment.ts';
import { Boxes, type OpenBox } from './boxes.ts';
import { findDetached, startDetached } from './detached.ts';
import { EgressGuard } from './egress-guard.ts';
import { connectEngine } from './engine.ts';
import { execute, runOnTerminal } from './execution.ts';
import { ExitWatch } from './exit-watch.ts';
import { Images } from './image.ts';
import { ALL_OWNED, newMarks } from './marks.ts';
import { namesOf } from './names.ts';
import { InstanceNetwork } from './network.ts';
import type { DockerDriverOptions } from './options.ts';
import { probeEngine } from './probe.ts';
import { readStats } from './stats.ts';
import { Takeover } from './takeover.ts';

export type { DockerDriverOptions } from './options.ts';

/** A driver whose boxes are containers of a Docker engine. Errors: invalid_argument (instance, dataDir). */
export function createDockerDriver(options: DockerDriverOptions): SandboxDriver {
  const dataDir = checkDataDir(options.dataDir);
  const names = namesOf(options.instance);
  const engine = connectEngine(options.socketPath);
  const marks = newMarks();
  const images = new Images(engine, options);
  const guard = new EgressGuard(names, options.log);
  const network = new InstanceNetwork(engine, names, guard, options.allowUnguardedNetwork ?? false);
  const takeover = new Takeover(ALL_OWNED, marks.ours, options.log);
  const onStart = (id: string) => takeover.isDone(id);
  const boxes = new Boxes({ engine, names, dataDir, images, network, onStart });
  const watch = new ExitWatch(engine, names.instance);
  const tools: CommandTools = { engine, watch, marks };
  const open = async (id: string): Promise<OpenBox> => {
    const box = await boxes.open(id);
    await takeover.of(box);
    return box;
  };
  return {
    name: 'docker',
    probe: () => probeEngine(engine, images, options),
    prepareImage: (image, progress, signal) => images.prepare(image, progress, signal),
    create: (spec) => boxes.create(spec),
    start: (id, spec) => boxes.start(id, spec),
    stop: (id) => boxes.stop(id),
    remove: (id) => {
      takeover.forget(id);
      return boxes.remove(id);
    },
    inspect: (id) => boxes.inspect(id),
    list: () => boxes.list(),
    update: (id, limits) => boxes.update(id, limits),
    stats: async (id) => readStats(boxes.container(id), id),
    exec: async (id, spec) => execute(tools, await open(id), spec),
    spawn: async (id, spec, logPath) => startDetached(tools, await open(id), spec, logPath),
    attach: async (id, ref) => attach(tools, () => open(id), ref),
    openTerminal: async (id, spec, size) => runOnTerminal(tools, await open(id), spec, size),
    close: async () => watch.close(),
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
