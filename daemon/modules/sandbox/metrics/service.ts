import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { BoxStats, SandboxDriver } from '../drivers/driver.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { allows, wrongState } from '../lifecycle/states.ts';
import type { Sandbox } from '../tables.ts';
import { maybeGone, noticeGone } from './gone.ts';
import { otherWork } from './other-work.ts';
import { type Reading, readingOf, usageOf } from './usage.ts';

/** What a sandbox uses. */
export interface Usage extends BoxStats {
  /** Of one core, between two readings: 200 is two full cores. */
  readonly cpuPercent: number;
  /** Of the limit; 0 without one. */
  readonly memoryPercent: number;
  /** When it was read, in milliseconds. */
  readonly at: number;
}

/** Two readings that are closer than this say little about the CPU. */
const LEAST_GAP_US = 20_000;
/** Boxes that are read before other work has its turn. */
const AT_ONCE = 4;
/** An older reading says nothing about now. */
const MOST_GAP_US = 10 * SECOND_MS * 1_000;

/** Measures what sandboxes use now. To measure one is no use of it: it does not keep it from falling asleep. */
export class StatsService {
  private readonly readings = new Map<string, Reading>();

  constructor(
    private readonly app: App,
    private readonly driver: SandboxDriver,
    private readonly lifecycle: LifecycleService,
  ) {}

  /** Measures one running sandbox. Errors: sandbox_not_found, sandbox_wrong_state. */
  async measure(tenant: string, idOrName: string): Promise<Usage> {
    const row = this.running(tenant, idOrName);
    try {
      return await this.usage(row);
    } catch (error) {
      if (maybeGone(error)) {
        await noticeGone(this.lifecycle, this.driver, row);
        this.running(tenant, row.id);
      }
      throw error;
    }
  }

  /** Measures running sandboxes; one that ends meanwhile is left out. */
  async measureAll(rows: readonly Sandbox[]): Promise<Usage[]> {
    return [...(await this.measureEach(rows)).values()];
  }

  /** As `measureAll`, by id. */
  async measureEach(rows: readonly Sandbox[]): Promise<Map<string, Usage>> {
    const measuring: Array<Promise<readonly [string, Usage] | undefined>> = [];
    for (const row of rows) {
      measuring.push(
        this.usage(row).then(
          (usage) => [row.id, usage] as const,
          () => undefined,
        ),
      );
      if (measuring.length % AT_ONCE === 0) await otherWork();
    }
    return new Map((await Promise.all(measuring)).filter((one) => one !== undefined));
  }

  /** A sandbox that runs. Errors: sandbox_not_found, sandbox_wrong_state. */
  running(tenant: string, idOrName: string): Sandbox {
    const row = this.lifecycle.get(tenant, idOrName);
    if (!allows('use', row.state)) throw wrongState(row.id, row.state, 'use');
    return row;
  }

  /** Forgets a sandbox. */
  forget(id: string): void {
    this.readings.delete(id);
  }

  private async usage(row: Sandbox): Promise<Usage> {
    const before = this.recent(row.id) ?? readingOf(await this.driver.stats(row.id));
    const gap = performance.now() * 1000 - before.atUs;
    if (gap < LEAST_GAP_US) await Bun.sleep((LEAST_GAP_US - gap) / 1000);
    const stats = await this.driver.stats(row.id);
    const reading = readingOf(stats);
    this.readings.set(row.id, reading);
    return usageOf(stats, before, reading, this.app.clock.now());
  }

  private recent(id: string): Reading | undefined {
    const reading = this.readings.get(id);
    return reading && performance.now() * 1000 - reading.atUs < MOST_GAP_US ? reading : undefined;
  }
}
