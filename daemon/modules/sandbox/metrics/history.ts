import { join } from 'node:path';
import { invalid } from '../../../../src/errors/app-error.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { openTelemetry } from '../../../db/telemetry.ts';
import { POINT_SCHEMA, type Point, PointStore } from './history-store.ts';
import type { Sample, Sampler } from './sampler.ts';

/** How long points are kept (spec, Metrics history). */
export const KEPT_MS = 2 * HOUR_MS;

/** A file that cannot be written is mentioned once in this time. */
const COMPLAIN_MS = 10 * MINUTE_MS;

/** What sandboxes used in the last two hours. Its file may be lost: then the history begins anew. */
export class MetricsHistory {
  private points: PointStore | undefined;
  private complainedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly app: App,
    sampler: Sampler,
  ) {
    sampler.onSamples((samples, at) => this.add(samples, at));
  }

  start(): void {
    this.attempt(() => {
      this.points = new PointStore(
        openTelemetry(join(this.app.config.dataDir, 'telemetry.db'), POINT_SCHEMA),
      );
    });
  }

  stop(): void {
    this.points?.close();
    this.points = undefined;
  }

  /**
   * The points of a sandbox, oldest first, at most two hours old. Where nothing was measured there is no point.
   * Errors: invalid_argument when `from` is after `to`.
   */
  list(tenant: string, sandboxId: string, from?: string, to?: string): Point[] {
    const now = this.app.clock.now();
    const [first, last] = [from ? Date.parse(from) : now - KEPT_MS, to ? Date.parse(to) : now];
    if (first > last) throw invalid({ field: 'from', description: 'must not be after to' });
    const oldest = Math.max(first, now - KEPT_MS);
    return this.attempt(() => this.points?.list(tenant, sandboxId, oldest, last)) ?? [];
  }

  private add(samples: readonly Sample[], at: number): void {
    const points = samples.map(({ row, usage }) => ({ tenant: row.tenant, sandboxId: row.id, point: usage }));
    this.attempt(() => this.points?.add(points, at - KEPT_MS));
  }

  /** A telemetry file that fails must not take anything else along. */
  private attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      const now = this.app.clock.now();
      if (now - this.complainedAt >= COMPLAIN_MS)
        this.app.log.warn('the history of metrics is not kept', { error });
      this.complainedAt = now - this.complainedAt >= COMPLAIN_MS ? now : this.complainedAt;
      return undefined;
    }
  }
}
