import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fail, invalid } from '../../../../../../src/errors/app-error.ts';
import type { StoredImage } from '../../../images/index.ts';
import type { Box, BoxMount, BoxSpec, BoxState, Limits, NetworkPolicy, SnapshotInfo } from '../../driver.ts';
import { bothOf } from '../../host/both.ts';
import { writeLimits } from '../../host/control-groups.ts';
import { errnoOf, exists } from '../../host/files.ts';
import { processesOf, removeGroup } from '../../host/group-tree.ts';
import { awaitEnd, killMarked, markOf, type ProcessMark } from '../../host/process.ts';
import { run } from '../../host/run.ts';
import { isSamePolicy, isSealed } from '../../network/policy.ts';
import { portOf } from '../../network/port.ts';
import { snapshotOf } from '../../snapshot-reference.ts';
import type { Starters } from '../command/starters.ts';
import { archiveBox, unarchiveBox } from '../snapshot/archive.ts';
import type { Changed, Snapshots } from '../snapshot/snapshots.ts';
import { whileStill } from '../snapshot/still.ts';
import { asHostFailure } from './errors.ts';
import { boxGroup, commandGroup, type Host } from './host.ts';
import { KeyedLock } from './keyed-lock.ts';
import { launch } from './launch.ts';
import { boxPaths, isSafeName } from './paths.ts';
import { type BoxRecord, boxFolders, isRunning, readRecord, writeRecord } from './record.ts';

/** du(1) follows no link; names that go away while it counts make it end with 1. */
const COUNT = 'du -s -x --block-size=1 "$1" 2>/dev/null || true';
const COUNT_TIMEOUT_MS = 60_000;
const REMOVE_TIMEOUT_MS = 300_000;

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
    private readonly starters: Pick<Starters, 'leave' | 'prepare'>,
    private readonly snapshots: Snapshots,
  ) {}

  async create(spec: BoxSpec): Promise<Box> {
    const dir = this.dirOf(spec.id);
    return this.lock.run(spec.id, async () => {
      if (exists(dir)) throw fail('already_exists', { what: 'box', id: spec.id });
      const record = await this.snapshots.use(spec.image, async (image) => {
        const warm = await this.takeWarm(spec, image);
        return warm ?? (await this.make(dir, spec, image, 'made'));
      });
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
      return await this.bringUp(dir, { ...record, phase }, image, spec.mounts);
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
        const image = await this.snapshots.imageOfBox(before.image.reference);
        await this.endProcesses(before);
        await this.host.network.release(before.address);
        const record = recordOf(spec, image, before.containerId);
        try {
          rmSync(boxPaths(dir).state, { recursive: true, force: true });
          await this.bringUp(dir, { ...record, phase: 'made' }, image, spec.mounts);
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
      const { init: _, address, port: __, ...rest } = this.record(id);
      await this.endProcesses(this.record(id));
      writeRecord(this.dirOf(id), rest);
      await this.host.network.release(address);
    });
  }

  async remove(id: string): Promise<void> {
    if (!isSafeName(id)) return;
    await this.lock.run(id, async () => {
      const standsOn = readRecord(this.dirOf(id))?.image.reference ?? '';
      await this.discard(this.dirOf(id));
      if (snapshotOf(standsOn) !== undefined) await this.snapshots.sweep();
    });
  }

  /** Keeps the files of a box, running or stopped. Errors: not_found, already_exists, disk_full, unavailable. */
  async snapshot(id: string, snapshotId: string, passing = false): Promise<SnapshotInfo> {
    return this.lock.run(id, async () => {
      const record = this.record(id);
      const changes = changesOf(this.dirOf(id));
      const copying = (copy: () => Promise<void>) =>
        isRunning(record) ? whileStill(this.host, record.containerId, copy) : copy();
      return this.snapshots.make(snapshotId, record.image, changes, { copying, passing });
    });
  }

  /** Packs a stopped box into a file. Errors: not_found, failed_precondition, disk_full, unavailable. */
  async archive(id: string, file: string): Promise<{ sizeBytes: number }> {
    return this.lock.run(id, async () => {
      const record = this.record(id);
      if (isRunning(record)) throw fail('failed_precondition', { message: `The box ${id} is running.` });
      await this.endProcesses(record);
      return { sizeBytes: await archiveBox(this.host, this.dirOf(id), record, file) };
    });
  }

  /** Makes the stopped box of a file again. Errors: already_exists, not_found, disk_full, unavailable. */
  async unarchive(spec: BoxSpec, file: string): Promise<void> {
    await this.lock.run(spec.id, async () => {
      const dir = this.dirOf(spec.id);
      if (exists(dir)) throw fail('already_exists', { what: 'box', id: spec.id });
      await unarchiveBox(this.host, dir, spec, file);
    });
  }

  /** Ends and deletes whatever is in a folder of a box, with a record or without. */
  async discard(dir: string): Promise<void> {
    if (!exists(dir)) return;
    const record = readRecord(dir);
    if (record) await this.endProcesses(record);
    await this.delete(dir);
    await this.host.network.release(record?.address);
    if (record) this.host.network.forget(record.id);
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

  async diskUsage(id: string): Promise<number> {
    this.record(id);
    const count = ['/bin/sh', '-c', COUNT, 'sh', boxPaths(this.dirOf(id)).upper] as const;
    return Number.parseInt(await run(count, { timeoutMs: COUNT_TIMEOUT_MS }), 10);
  }

  async update(id: string, limits: Limits): Promise<void> {
    await this.lock.run(id, async () => {
      const { dir, record } = this.running(id);
      await this.applyLimits(record, limits);
      writeRecord(dir, { ...record, limits });
    });
  }

  /** Changes what a box reaches. Errors: not_found, not_configured where this host cannot connect it. */
  async setNetwork(id: string, policy: NetworkPolicy): Promise<void> {
    await this.lock.run(id, async () => {
      const record = this.record(id);
      const { init, address } = record;
      const isUp = init !== undefined && isRunning(record);
      const mustConnect = isUp && address === undefined && !isSealed(policy);
      const missing = mustConnect ? this.host.network.missing() : undefined;
      if (missing) throw fail('not_configured', { message: missing });
      const changed = { ...record, network: policy };
      if (!isSamePolicy(record.network, policy)) writeRecord(this.dirOf(id), changed);
      if (!isUp) return;
      if (mustConnect) {
        const attachment = await this.host.network.attach(id, init.pid, policy);
        writeRecord(this.dirOf(id), { ...changed, ...attachment });
      } else if (address !== undefined) {
        const port = record.port ?? portOf(init.pid) ?? '';
        await this.host.network.setPolicy(id, { address, port }, policy);
      }
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

  private async bringUp(
    dir: string,
    record: BoxRecord,
    image: StoredImage,
    binds: readonly BoxMount[] = [],
  ): Promise<BoxRecord> {
    const { network } = this.host;
    const isSealedOff = isSealed(record.network);
    const missing = isSealedOff ? undefined : network.missing();
    if (missing) this.host.log('warn', 'sandbox without a network', { id: record.id, why: missing });
    const connected = !isSealedOff && !missing;
    const launching = launch(this.host, dir, {
      containerId: record.containerId,
      mounts: image.mounts,
      binds,
      limits: record.limits,
      resolvConf: network.resolvConf(),
    });
    const entering = launching.then((init) => {
      // A process that waits for a command needs no network, and enters while there is none yet.
      this.starters.prepare({ dir, record, init });
      return init;
    });
    const attaching = connected
      ? network.attach(
          record.id,
          launching.then(({ pid }) => pid),
          record.network,
        )
      : Promise.resolve(undefined);
    const [init, attachment] = await bothOf(entering, attaching);
    const up = { ...record, init, ...attachment };
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

/** The trees of files that a box has changed, one a mount; those that are empty say nothing. */
function changesOf(dir: string): Changed[] {
  const { upper } = boxPaths(dir);
  return readdirSync(upper)
    .filter((name) => name === 'root' || readdirSync(join(upper, name)).length > 0)
    .map((name) => ({ target: name === 'root' ? '/' : `/${name}`, dir: join(upper, name) }));
}

function stateOf(record: BoxRecord): BoxState {
  const { id, containerId } = record;
  return { id, containerId, state: isRunning(record) ? 'running' : 'stopped' };
}
