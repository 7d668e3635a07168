import { renameSync } from 'node:fs';
import { HOST_IMAGE, type StoredImage } from '../../../images/index.ts';
import type { BoxSpec } from '../../driver.ts';
import { isSealed, policyOf } from '../../network/policy.ts';
import type { Starters } from '../command/starters.ts';
import type { Boxes } from './boxes.ts';
import type { Host } from './host.ts';
import { type BoxRecord, boxFolders, isRunning, readRecord, writeRecord } from './record.ts';

const REFILL_AFTER_MS = 50;
const RETRY_AFTER_MS = 30_000;
const SHAPE = { image: HOST_IMAGE, env: {}, limits: { cpu: 1, memoryMb: 512, pids: 512 } } as const;

/**
 * Boxes of the default shape that were made ahead and idle. Handing one out is the renaming of its folder,
 * which only one taker can win, and an update of its record and limits.
 */
export class Pool {
  private readonly names: string[] = [];
  private timer: Timer | undefined;
  private filling: Promise<void> | undefined;
  private closed = false;

  constructor(
    private readonly host: Host,
    private readonly boxes: () => Boxes,
    private readonly starters: Pick<Starters, 'prepare' | 'entered'>,
    private readonly size: number,
  ) {}

  /** Takes over the boxes that an earlier daemon left waiting, removes the dead ones, and begins to fill up. */
  adopt(): void {
    for (const { name, dir } of boxFolders(this.host.layout)) {
      const record = readRecord(dir);
      if (record?.phase !== 'warm' || record.id !== name) continue;
      if (isRunning(record)) this.add(name, record);
      else this.drop(name);
    }
    this.refillLater();
  }

  /** A box for this request, in its place and with its record; undefined when none fits. */
  async take(spec: BoxSpec, image: StoredImage): Promise<BoxRecord | undefined> {
    if (spec.image !== HOST_IMAGE || spec.mounts?.length) return undefined;
    for (const name of [...this.names]) {
      const record = readRecord(this.boxes().dirOf(name));
      if (record?.phase !== 'warm' || !isRunning(record) || this.isStale(record, image)) this.drop(name);
      else if ((!isSealed(spec.network) && this.isConnected()) === isConnected(record)) {
        this.forget(name);
        const taken = await this.handOut(name, record, spec);
        this.refillLater();
        if (taken) return taken;
      }
    }
    this.refillLater();
    return undefined;
  }

  /** Removes the boxes that wait here. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.filling?.catch(() => {});
    await Promise.all(this.names.splice(0).map((name) => this.boxes().remove(name)));
  }

  /** Whether a box waits for nobody any more: of an older image, or of a time when the host had another network. */
  private isStale(record: BoxRecord, image: StoredImage): boolean {
    const isOld = isConnected(record) && record.port === undefined;
    return isOld || record.image.id !== image.info.id || isConnected(record) !== this.isConnected();
  }

  private isConnected(): boolean {
    return this.host.network.missing() === undefined;
  }

  private forget(name: string): void {
    const at = this.names.indexOf(name);
    if (at >= 0) this.names.splice(at, 1);
  }

  private drop(name: string): void {
    this.forget(name);
    this.boxes()
      .remove(name)
      .catch((error: unknown) =>
        this.host.log('warn', 'a waiting sandbox stays', { name, error: String(error) }),
      );
  }

  private async handOut(name: string, record: BoxRecord, spec: BoxSpec): Promise<BoxRecord | undefined> {
    const to = this.boxes().dirOf(spec.id);
    const { id, limits, network } = spec;
    const env = { ...record.image.env, ...spec.env };
    const workDir = spec.workDir ?? record.image.workDir;
    const taken: BoxRecord = { ...record, id, limits, network, env, workDir, phase: 'made' };
    try {
      await this.boxes().applyLimits(record, limits);
      const { address, port } = record;
      if (address !== undefined && port) await this.host.network.setPolicy(id, { address, port }, network);
      await this.starters.entered(record.containerId);
      renameSync(this.boxes().dirOf(name), to);
    } catch {
      return undefined;
    }
    writeRecord(to, taken);
    return taken;
  }

  private refillLater(ms = REFILL_AFTER_MS): void {
    if (this.closed || this.timer || this.filling || this.size === 0) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.filling = this.refill().finally(() => {
        this.filling = undefined;
      });
    }, ms);
    this.timer.unref();
  }

  private async refill(): Promise<void> {
    try {
      while (!this.closed && this.names.length < this.size) await this.makeOne();
    } catch (error) {
      this.host.log('warn', 'no sandbox could be made ahead', { error: String(error) });
      this.filling = undefined;
      this.refillLater(RETRY_AFTER_MS);
    }
  }

  private add(name: string, record: BoxRecord): void {
    this.names.push(name);
    if (record.init) this.starters.prepare({ dir: this.boxes().dirOf(name), record, init: record.init });
  }

  private async makeOne(): Promise<void> {
    const id = `warm_${crypto.randomUUID().replaceAll('-', '')}`;
    const image = await this.host.images.prepare(HOST_IMAGE, { progress: () => {} });
    const spec: BoxSpec = { id, ...SHAPE, network: policyOf('allow') };
    const dir = this.boxes().dirOf(id);
    this.add(id, await this.boxes().lock.run(id, () => this.boxes().make(dir, spec, image, 'warm')));
  }
}

function isConnected(record: BoxRecord): boolean {
  return record.address !== undefined;
}
