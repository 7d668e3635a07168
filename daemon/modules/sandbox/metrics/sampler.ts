import type { App } from '../../../app.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { SandboxEvents } from '../history/events.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { Sandbox } from '../tables.ts';
import { maybeGone, noticeGone } from './gone.ts';
import { otherWork } from './other-work.ts';
import type { Usage } from './service.ts';
import { type Reading, readingOf, usageOf } from './usage.ts';

/** One running sandbox and what it used on average since the sample before. */
export interface Sample {
  readonly row: Sandbox;
  readonly usage: Usage;
  /** When the box started, in milliseconds: its counters count from there. */
  readonly startedAt: number;
}

/** What is done with the samples of one round. */
export type SampleListener = (samples: readonly Sample[], at: number) => void;

/** Boxes that are read before other work has its turn. */
const AT_ONCE = 4;
const US = 1_000;

/**
 * Reads the counters of every running sandbox at a steady pace, for the history and for whoever exports them. It
 * also is who notices that a box has ended behind svc's back.
 */
export class Sampler {
  private readonly before = new Map<string, Reading>();
  private readonly starts = new Map<string, number>();
  private readonly listeners: SampleListener[] = [];
  private latest: readonly Sample[] = [];
  private timer: Timer | undefined;
  private stopped = true;
  private round: Promise<void> = Promise.resolve();

  constructor(
    private readonly app: App,
    private readonly driver: SandboxDriver,
    private readonly lifecycle: LifecycleService,
    private readonly events: SandboxEvents,
  ) {
    app.bus.on('sandbox.event', ({ sandboxId, type }) => {
      if (STARTED.has(type)) this.forget(sandboxId);
    });
  }

  /** Milliseconds between two rounds. */
  get intervalMs(): number {
    return this.app.config.get('sandbox.sample_interval');
  }

  /** Hands every round on. */
  onSamples(listener: SampleListener): void {
    this.listeners.push(listener);
  }

  /** The sum over all tenants of what ran at the last round. */
  totals(): { readonly cores: number; readonly memoryBytes: number; readonly pids: number } {
    const sum = (pick: (usage: Usage) => number) =>
      this.latest.reduce((total, { usage }) => total + pick(usage), 0);
    return {
      cores: sum(({ cpuPercent }) => cpuPercent) / 100,
      memoryBytes: sum(({ memoryBytes }) => memoryBytes),
      pids: sum(({ pids }) => pids),
    };
  }

  start(): void {
    this.stopped = false;
    this.round = this.each(async (row) => {
      this.before.set(row.id, readingOf(await this.driver.stats(row.id)));
    }).then(() => undefined);
    this.arm(performance.now() + this.intervalMs);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.round;
  }

  private arm(due: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(
      () => {
        const next = Math.max(due + this.intervalMs, performance.now());
        this.round = this.round
          .then(() => this.sample())
          .catch((error) => this.app.log.error('sandboxes could not be sampled', { error }))
          .finally(() => this.arm(next));
      },
      Math.max(due - performance.now(), 0),
    );
  }

  private async sample(): Promise<void> {
    const samples = await this.each((row) => this.measure(row));
    this.latest = samples;
    const running = new Set(samples.map(({ row }) => row.id));
    for (const id of this.before.keys()) if (!running.has(id)) this.forget(id);
    const at = this.app.clock.now();
    for (const listener of this.listeners) listener(samples, at);
  }

  private async measure(row: Sandbox): Promise<Sample> {
    const stats = await this.driver.stats(row.id);
    const startedAt = this.startedAt(row);
    const reading = readingOf(stats);
    const before = this.before.get(row.id) ?? this.sinceStart(reading, startedAt);
    this.before.set(row.id, reading);
    return { row, startedAt, usage: usageOf(stats, before, reading, this.app.clock.now()) };
  }

  /** Does it for each running sandbox, a few at a time, and answers the results of those that run still. */
  private async each<T>(work: (row: Sandbox) => Promise<T>): Promise<T[]> {
    const rows = this.lifecycle.store.running();
    const results: T[] = [];
    for (let i = 0; i < rows.length && !this.stopped; i += AT_ONCE) {
      const some = await Promise.all(rows.slice(i, i + AT_ONCE).map((row) => this.attempt(row, work)));
      results.push(...some.filter((result) => result !== undefined));
      await otherWork();
    }
    return results;
  }

  private async attempt<T>(row: Sandbox, work: (row: Sandbox) => Promise<T>): Promise<T | undefined> {
    try {
      return await work(row);
    } catch (error) {
      if (maybeGone(error))
        await noticeGone(this.lifecycle, this.driver, row).catch((error) =>
          this.app.log.debug('a sandbox could not be looked at', { sandbox: row.id, error }),
        );
      else this.app.log.debug('a sandbox could not be measured', { sandbox: row.id, error });
      return undefined;
    }
  }

  /** The first reading of a box stands for all since its start. */
  private sinceStart({ atUs }: Reading, startedAt: number): Reading {
    const age = Math.max(this.app.clock.now() - startedAt, 1) * US;
    return { cpuUsageUs: 0, atUs: atUs - age };
  }

  private startedAt(row: Sandbox): number {
    const known =
      this.starts.get(row.id) ??
      this.events.lastOf(row.tenant, row.id, [...STARTED])?.createdAt ??
      row.createdAt;
    this.starts.set(row.id, known);
    return known;
  }

  private forget(id: string): void {
    this.before.delete(id);
    this.starts.delete(id);
  }
}

/** Events after which a box counts from 0. */
const STARTED: ReadonlySet<string> = new Set(['running', 'revived', 'restored']);
