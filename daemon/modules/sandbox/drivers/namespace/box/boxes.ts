import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fail, invalid } from '../../../../../../src/errors/app-error.ts';
import type { StoredImage } from '../../../images/index.ts';
import type { Box, BoxSpec, BoxState, Limits } from '../../driver.ts';
import { writeLimits } from '../../host/control-groups.ts';
import { errnoOf, exists } from '../../host/files.ts';
import { processesOf, removeGroup } from '../../host/group-tree.ts';
import { awaitEnd, killMarked, markOf, type ProcessMark } from '../../host/process.ts';
import { run } from '../../host/run.ts';
import type { Starters } from '../command/starters.ts';
import { asHostFailure } from './errors.ts';
import { boxGroup, commandGroup, type Host } from './host.ts';
import { KeyedLock } from './keyed-lock.ts';
import { launch } from './launch.ts';
import { boxPaths, isSafeName } from './paths.ts';
import { type BoxRecord, boxFolders, isRunning, readRecord, writeRecord } from './record.ts';

const REMOVE_TIMEOUT_MS = 300_000;
const QUIET = { progress: () => {} };

/** A box whose folder, record and processes were found. */
export interface Found {
  readonly dir: string;
  readonly record: BoxRecord;
  /** PID 1, seen from the host. */
  readonly init: ProcessMark;
}

/** Where the pool hands out a box of this shape; undefined when it has none. */
export type TakeWarm = (spec: BoxSpec, image: StoredImage) => Promise<BoxRecord | undefined>;

/** Boxes as folders, records and processes. One task at a time on each. */
export class Boxes {
  readonly lock = new KeyedLock();

  constructor(
    private readonly host: Host,
    private readonly takeWarm: TakeWarm,
    private readonly starters: Pick<Starters, 'leave'>,
  ) {}

  async create(spec: BoxSpec): Promise<Box> {
    const dir = this.dirOf(spec.id);
    return this.lock.run(spec.id, async () => {
      if (exists(dir)) throw fail('already_exists', { what: 'box', id: spec.id });
      const image = await this.host.images.prepare(spec.image, QUIET);
      const warm = await this.takeWarm(spec, image);
      const record = warm ?? (await this.make(dir, spec, image, 'made'));
      return { id: spec.id, containerId: record.containerId, image: record.image };
    });
  }

  /** Makes and starts a box in a folder; when that fails nothing of it is left. */
  async make(dir: string, spec: BoxSpec, image: StoredImage, phase: 'made' | 'warm'): Promise<BoxRecord> {
    const containerId = `${spec.id.replaceAll('_', '-')}-${crypto.randomUUID().slice(0, 8)}`;
    const record = recordOf(spec, image, containerId);
    mkdirSync(this.host.layout.boxes, { recursive: true, mode: 0o700 });
    mkdirSync(dir, { mode: 0o700 });
    try {
      writeRecord(dir, record);
      return await this.bringUp(dir, { ...record, phase }, image);
    } catch (error) {
      await this.wipe(dir);
      throw asHostFailure(error, 'Making the sandbox');
    }
  }

  async start(id: string, spec: BoxSpec): Promise<Box> {
    return this.lock.run(id, async () => {
      const dir = this.dirOf(id);
      const before = this.record(id);
      if (!isRunning(before)) {
        const image = await this.host.images.prepare(spec.image, QUIET);
        await this.endProcesses(before);
        this.host.network.release(before.address);
        const record = recordOf(spec, image, before.containerId);
        try {
          rmSync(boxPaths(dir).state, { recursive: true, force: true });
          await this.bringUp(dir, { ...record, phase: 'made' }, image);
        } catch (error) {
          await this.endProcesses(before);
          throw asHostFailure(error, 'Starting the sandbox');
        }
      }
      const { containerId, image } = this.record(id);
      return { id, containerId, image };
    });
  }

  async stop(id: string): Promise<void> {
    await this.lock.run(id, async () => {
      const { init: _, address, ...rest } = this.record(id);
      await this.endProcesses(this.record(id));
      writeRecord(this.dirOf(id), rest);
      this.host.network.release(address);
    });
  }

  async remove(id: string): Promise<void> {
    if (!isSafeName(id)) return;
    await this.lock.run(id, () => this.discard(this.dirOf(id)));
  }

  /** Ends and deletes whatever is in a folder of a box, with a record or without. */
  async discard(dir: string): Promise<void> {
    if (!exists(dir)) return;
    const record = readRecord(dir);
    if (record) await this.endProcesses(record);
    await this.delete(dir);
    this.host.network.release(record?.address);
  }

  inspect(id: string): BoxState {
    const record = isSafeName(id) ? readRecord(this.dirOf(id)) : undefined;
    if (record?.phase !== 'made') return { id, containerId: '', state: 'missing' };
    return stateOf(record);
  }

  list(): BoxState[] {
    return boxFolders(this.host.layout)
      .map(({ dir }) => readRecord(dir))
      .filter((record) => record?.phase === 'made')
      .map((record) => stateOf(record as BoxRecord));
  }

  async update(id: string, limits: Limits): Promise<void> {
    await this.lock.run(id, async () => {
      const { dir, record } = this.running(id);
      await this.applyLimits(record, limits);
      writeRecord(dir, { ...record, limits });
    });
  }

  /** Changes the limits of the running box of a record. */
  applyLimits(record: BoxRecord, limits: Limits): Promise<void> {
    return writeLimits(this.host.groups, boxGroup(this.host, record.containerId), limits);
  }

  /** A box that runs. Errors: not_found, failed_precondition when it is stopped. */
  running(id: string): Found {
    const record = this.record(id);
    if (!record.init || !isRunning(record))
      throw fail('failed_precondition', { message: `The box ${id} is not running.` });
    return { dir: this.dirOf(id), record, init: record.init };
  }

  dirOf(id: string): string {
    if (!isSafeName(id))
      throw invalid({ field: 'id', description: `${JSON.stringify(id)} is no id of a box` });
    return join(this.host.layout.boxes, id);
  }

  private record(id: string): BoxRecord {
    const record = isSafeName(id) ? readRecord(this.dirOf(id)) : undefined;
    if (record?.phase !== 'made') throw fail('not_found', { what: 'box', id });
    return record;
  }

  private async bringUp(dir: string, record: BoxRecord, image: StoredImage): Promise<BoxRecord> {
    const { network } = this.host;
    const missing = record.network === 'allow' ? network.missing() : undefined;
    if (missing) this.host.log('warn', 'sandbox without a network', { id: record.id, why: missing });
    const connected = record.network === 'allow' && !missing;
    const init = await launch(this.host, dir, {
      containerId: record.containerId,
      mounts: image.mounts,
      limits: record.limits,
      resolvConf: network.resolvConf(connected ? 'allow' : 'deny'),
    });
    const address = connected ? await network.attach(init.pid) : undefined;
    const up = { ...record, init, address };
    writeRecord(dir, up);
    return up;
  }

  /** Kills every process of a box and takes its control groups away. */
  private async endProcesses(record: BoxRecord): Promise<void> {
    const { groups } = this.host;
    const paths = [boxGroup(this.host, record.containerId), commandGroup(this.host, record.containerId)];
    await this.starters.leave(record.containerId);
    killMarked(record.init);
    await awaitEnd(record.init);
    for (let pause = 1; pause < 2_000; pause *= 2) {
      for (const root of groups.roots)
        for (const path of paths) for (const pid of processesOf(join(root, path))) killMarked(markOf(pid));
      const gone = await Promise.all(paths.map((path) => removeGroup(groups, path)));
      if (gone.every(Boolean)) return;
      await Bun.sleep(pause);
    }
    throw new Error(`processes of ${record.containerId} do not end`);
  }

  private async wipe(dir: string): Promise<void> {
    try {
      await this.discard(dir);
    } catch (error) {
      this.host.log('error', 'a sandbox could not be cleaned up', { dir, error: String(error) });
    }
  }

  /** Out of the way first, then deleted: a half-deleted folder is never taken for a box. */
  private async delete(dir: string): Promise<void> {
    const trash = join(this.host.layout.boxes, `.trash-${crypto.randomUUID()}`);
    try {
      renameSync(dir, trash);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
    await run(['rm', '-rf', '--one-file-system', '--', trash], { timeoutMs: REMOVE_TIMEOUT_MS });
  }
}

/** The record of a box that is about to be made. */
function recordOf(spec: BoxSpec, image: StoredImage, containerId: string): BoxRecord {
  return {
    id: spec.id,
    containerId,
    phase: 'making',
    maker: markOf(process.pid),
    image: image.info,
    env: { ...image.info.env, ...spec.env },
    workDir: spec.workDir ?? image.info.workDir,
    limits: spec.limits,
    network: spec.network,
    layers: image.mounts.flatMap(({ lowers }) => lowers),
  };
}

function stateOf(record: BoxRecord): BoxState {
  const { id, containerId } = record;
  return { id, containerId, state: isRunning(record) ? 'running' : 'stopped' };
}
