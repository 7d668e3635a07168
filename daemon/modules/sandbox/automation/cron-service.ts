import type { sandboxCrons as contract } from '../../../../src/api/sandbox/crons.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { fail, invalid } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { checkCount, checkWork, readSandboxConfig, sandboxOf } from './checks.ts';
import type { Filter } from './cron-store.ts';
import type { Stores } from './runner.ts';
import { parseSchedule } from './schedule.ts';
import type { Scheduler } from './scheduler.ts';
import type { CronRow } from './tables.ts';

type CreateRequest = Value<typeof contract.CreateCron.body>;
type UpdateRequest = Value<typeof contract.UpdateCron.body>;

/** Seconds after which the command of a cron is killed when it says nothing. */
const DEFAULT_TIMEOUT_S = 3_600;

/** Makes, changes and removes crons. */
export class CronService {
  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly stores: Stores,
    private readonly scheduler: Scheduler,
  ) {}

  /** Errors: invalid_argument, sandbox_not_found, resource_exhausted, not_built. */
  create(tenant: string, request: CreateRequest): CronRow {
    const { schedule = '', timezone = '' } = request;
    const zone = timezone || 'UTC';
    const command = required('command', request.command);
    required('schedule', schedule);
    checkWork(request);
    const now = this.app.clock.now();
    const nextRunAt = parseSchedule(schedule, zone).after(now) ?? null;
    const sandboxConfig = readSandboxConfig(request.sandboxConfig, tenant, this.app.config);
    const where = sandboxOf(this.lifecycle, tenant, request);
    checkCount(this.stores.crons.count(tenant), 'crons');
    const row = this.stores.crons.insert({
      ...where,
      tenant,
      name: request.name ?? '',
      schedule: schedule.trim(),
      timezone: zone,
      command,
      workDir: request.workDir ?? '',
      timeoutSeconds: request.timeoutSeconds || DEFAULT_TIMEOUT_S,
      enabled: true,
      missedRuns: request.missedRuns ?? 'skip',
      overlap: request.overlap ?? 'skip',
      wake: request.wake ?? true,
      autoRecreate: request.autoRecreate ?? false,
      sandboxConfig,
      lastRunAt: null,
      nextRunAt,
      runCount: 0,
      errorCount: 0,
      lastError: '',
      createdAt: now,
      updatedAt: now,
    });
    this.scheduler.arm();
    return row;
  }

  /** Changes what is given. A changed schedule, and one that is enabled again, counts from now. Errors: not_found, invalid_argument. */
  update(tenant: string, id: number, request: UpdateRequest): CronRow {
    const row = this.get(tenant, id);
    if (request.command !== undefined) required('command', request.command);
    checkWork(request);
    const { tenantId: _, timezone, ...given } = request;
    const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    const changed: CronRow = { ...row, ...known, timezone: timezone || row.timezone };
    const updatedAt = this.app.clock.now();
    const next = parseSchedule(changed.schedule, changed.timezone).after(updatedAt) ?? null;
    const keeps =
      changed.schedule === row.schedule &&
      changed.timezone === row.timezone &&
      changed.enabled === row.enabled;
    const nextRunAt = keeps ? row.nextRunAt : changed.enabled ? next : null;
    const timeoutSeconds = changed.timeoutSeconds || DEFAULT_TIMEOUT_S;
    this.stores.crons.update(tenant, id, {
      ...known,
      timezone: changed.timezone,
      schedule: changed.schedule.trim(),
      timeoutSeconds,
      nextRunAt,
      updatedAt,
    });
    this.scheduler.arm();
    return this.get(tenant, id);
  }

  /** Removes a cron and what waits of it; a run that has begun goes on. Errors: not_found. */
  delete(tenant: string, id: number): void {
    this.app.db.transaction(() => {
      if (!this.stores.crons.delete(tenant, id)) throw missing(id);
      this.stores.runs.dropWaiting(tenant, 'cron', id);
    });
  }

  list(tenant: string, filter: Filter): { rows: CronRow[]; total: number } {
    return this.stores.crons.list(tenant, filter);
  }

  private get(tenant: string, id: number): CronRow {
    const row = this.stores.crons.find(tenant, id);
    if (!row) throw missing(id);
    return row;
  }
}

/** Errors: invalid_argument. */
export function required(field: string, value: string | undefined): string {
  if (value === undefined || value.trim() === '') throw invalid({ field, description: 'is required' });
  return value;
}

function missing(id: number) {
  return fail('not_found', { what: 'cron', id: String(id) });
}
