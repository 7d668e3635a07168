import { asAppError, fail } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import { KeyedLock } from '../../../../src/kit/keyed-lock.ts';
import { DAY_MS, SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Box, BoxSpec, SandboxDriver } from '../drivers/driver.ts';
import type { NewEvent, SandboxEvents } from '../history/events.ts';
import type { Sandbox } from '../tables.ts';
import { Archives } from './archives.ts';
import { type CreateRequest, resolveConfig, type SandboxConfig } from './config.ts';
import { cloneInto } from './git.ts';
import { Ingredients } from './ingredients.ts';
import { allows, type Operation, type State, TRANSITIONS, wrongState } from './states.ts';
import type { Filter, SandboxStore } from './store.ts';

/** Why a sandbox ended. */
export type Reason = NonNullable<Sandbox['reason']>;

type SleepDates = Pick<Sandbox, 'archiveAt' | 'deleteAt'>;

/** What a sandbox that runs again is no more. */
const AWAKE = {
  state: 'running',
  stoppedAt: null,
  deleteAt: null,
  archiveAt: null,
  reason: null,
  failure: null,
} as const;

/** An image that has what a sandbox is to have, and the commit that is in it. */
interface Filled {
  readonly image: string;
  readonly gitCommit: string | null;
}

interface MakeOptions {
  readonly idempotencyKey?: string;
  /** Where its files come from, when it is not the image of its configuration. */
  readonly filled?: Filled;
}

/** Makes sandboxes and takes them through their states. One operation on one sandbox at a time. */
export class LifecycleService {
  private readonly locks = new KeyedLock();
  private readonly activity = new Map<string, number>();
  readonly archives: Archives;
  /** What rooms add to the sandboxes that are made. */
  readonly ingredients = new Ingredients();

  constructor(
    private readonly app: App,
    private readonly driver: SandboxDriver,
    readonly store: SandboxStore,
    private readonly events: SandboxEvents,
  ) {
    this.archives = new Archives(app.config.dataDir);
  }

  /**
   * Makes a sandbox and waits until it runs. Two requests with one idempotency key make one sandbox.
   * Errors: invalid_argument, template_not_found, already_exists (name), resource_exhausted, image_not_found, not_built.
   */
  async create(caller: Caller, request: CreateRequest, idempotencyKey?: string): Promise<Sandbox> {
    const earlier =
      idempotencyKey === undefined ? undefined : this.store.findByKey(caller.tenant, idempotencyKey);
    if (earlier) return earlier;
    const config = resolveConfig(request, this.app.config);
    const plain = { ...config, image: this.imageOf(config) };
    const whole = this.ingredients.resolve(caller.tenant, request, plain);
    return this.make(caller, whole, request, { idempotencyKey });
  }

  /** A new sandbox with the configuration of an old one, in whatever state that is. Errors: sandbox_not_found. */
  async recreate(caller: Caller, idOrName: string, sessionId?: string): Promise<Sandbox> {
    const old = this.get(caller.tenant, idOrName);
    const free = old.state === 'terminated' || old.state === 'failed';
    return this.make(caller, old.config, {
      name: free ? old.name : '',
      labels: { ...old.labels },
      sessionId,
    });
  }

  /**
   * A new sandbox with the configuration of another one and the files of an image that has everything in it
   * already. Errors: as `create`.
   */
  makeLike(
    caller: Caller,
    { config, gitCommit }: Sandbox,
    request: Pick<CreateRequest, 'name' | 'labels'>,
    image: string,
  ): Promise<Sandbox> {
    return this.make(caller, config, request, { filled: { image, gitCommit } });
  }

  /** A sandbox by id, name or session. Errors: sandbox_not_found, also for another tenant's. */
  get(tenant: string, idOrName: string): Sandbox {
    const row = this.store.find(tenant, idOrName);
    if (!row) throw fail('sandbox_not_found', { id: idOrName });
    return row;
  }

  list(tenant: string, filter: Filter): { rows: Sandbox[]; total: number } {
    return this.store.list(tenant, filter);
  }

  /** A sandbox that runs, for whoever wants to use it; remembers that it was used. Errors: sandbox_wrong_state. */
  running(tenant: string, idOrName: string): Sandbox {
    const row = this.get(tenant, idOrName);
    if (!allows('use', row.state)) throw wrongState(row.id, row.state, 'use');
    this.touch(row.id);
    return row;
  }

  /** Remembers that a sandbox is in use, so that it does not count as idle. */
  touch(id: string): void {
    this.activity.set(id, this.app.clock.now());
  }

  /** When a sandbox was last used. */
  lastUsed(row: Sandbox): number {
    return this.activity.get(row.id) ?? row.updatedAt;
  }

  /** Puts a running sandbox to sleep; with autoDeleteAfterDays 0 it is terminated. */
  stop(tenant: string, idOrName: string, reason: Reason = 'manual'): Promise<Sandbox> {
    return this.exclusively(tenant, idOrName, async (row) => {
      this.enter(row, 'stop', { type: 'stopping', message: `Stopping (${reason})` });
      await this.ingredients
        .ending(row, () => this.driver.stop(row.id), false)
        .catch((error: unknown) => {
          const failure = asAppError(error).message;
          this.settle(
            row,
            'stopping',
            { state: 'running', failure },
            { type: 'error', message: 'Could not be stopped', error: failure },
          );
          throw error;
        });
      const stoppedAt = this.app.clock.now();
      const change = {
        state: 'sleeping' as const,
        stoppedAt,
        reason,
        expiresAt: null,
        ...this.sleepDates(row.config),
      };
      this.settle(row, 'stopping', change, {
        type: 'stopped',
        message: `Sleeping; its files are kept (${reason})`,
      });
      if (row.config.autoDeleteAfterDays === 0) await this.end(this.get(tenant, row.id), reason);
      return this.get(tenant, row.id);
    });
  }

  /** Wakes a sleeping sandbox on the files it had. When that fails it goes back to sleep with the reason. */
  revive(tenant: string, idOrName: string): Promise<Sandbox> {
    return this.exclusively(tenant, idOrName, async (row) => {
      if (allows('revive', row.state)) this.checkRoom();
      this.enter(row, 'revive', { type: 'reviving', message: 'Waking' });
      return this.wake(row, 'sleeping', () => this.driver.start(row.id, this.boxSpec(row.id, row.config)));
    });
  }

  /** Takes a sandbox that is reviving to running by `start`; when that fails, to where it came from with the reason. */
  async wake(row: Sandbox, from: 'sleeping' | 'archived', start: () => Promise<Box>): Promise<Sandbox> {
    const began = performance.now();
    try {
      const box = await this.ingredients.starting(row, start);
      this.ingredients.used(row.tenant, row.config);
      const change = {
        ...AWAKE,
        containerId: box.containerId,
        expiresAt: this.expiry(row.config),
      };
      const durationMs = performance.now() - began;
      this.settle(row, 'reviving', change, { type: 'revived', message: 'Running again', durationMs });
    } catch (error) {
      const failure = asAppError(error).message;
      const event = { type: 'error', message: 'Could not be woken', error: failure };
      this.settle(row, 'reviving', { state: from, failure }, event);
      throw error;
    }
    return this.get(row.tenant, row.id);
  }

  /** Destroys a sandbox for good. */
  terminate(tenant: string, idOrName: string, reason: Reason = 'manual'): Promise<Sandbox> {
    return this.exclusively(tenant, idOrName, async (row) => {
      await this.end(row, reason);
      return this.get(tenant, row.id);
    });
  }

  /** Adds to the lifetime of a sandbox; one without end stays so. */
  renew(tenant: string, idOrName: string, extraSeconds: number): Promise<Sandbox> {
    return this.exclusively(tenant, idOrName, async (row) => {
      if (!allows('renew', row.state)) throw wrongState(row.id, row.state, 'renew');
      if (row.expiresAt === null) return row;
      const expiresAt = row.expiresAt + extraSeconds * SECOND_MS;
      const event = {
        type: 'renewed',
        message: `Expires ${extraSeconds} s later`,
        metadata: { extraSeconds },
      };
      this.settle(row, row.state, { expiresAt }, event);
      return { ...row, expiresAt };
    });
  }

  /** Writes a state that was found, not asked for (reconciling, a box that died). */
  settle(row: Sandbox, from: State, change: Partial<Sandbox>, event: NewEvent): void {
    const updatedAt = this.app.clock.now();
    this.events.record(row.tenant, row.id, event, () =>
      this.store.change(row.tenant, row.id, [from], { ...change, updatedAt }),
    );
  }

  /** What the driver needs to start a sandbox. */
  boxSpec(id: string, config: SandboxConfig): BoxSpec {
    const limits = { cpu: config.cpu, memoryMb: config.memoryMb, pids: this.app.config.get('sandbox.pids') };
    const mounts = this.ingredients.mounts(config, id);
    return { id, image: config.image, env: config.env, limits, mounts, network: config.network };
  }

  /** Runs work on a sandbox while nobody else changes it. */
  exclusively<T>(tenant: string, idOrName: string, work: (row: Sandbox) => Promise<T>): Promise<T> {
    const { id } = this.get(tenant, idOrName);
    return this.locks.run(id, () => work(this.get(tenant, id)));
  }

  private async make(
    caller: Caller,
    config: SandboxConfig,
    request: CreateRequest,
    { idempotencyKey, filled }: MakeOptions = {},
  ): Promise<Sandbox> {
    this.checkRoom();
    this.ingredients.check(caller.tenant, config);
    const asking = this.ingredients.admit(caller.tenant, config);
    if (asking) {
      await asking;
      const meanwhile = idempotencyKey && this.store.findByKey(caller.tenant, idempotencyKey);
      if (meanwhile) return meanwhile;
      this.checkRoom();
    }
    const row = this.newRow(caller, config, request, idempotencyKey);
    this.events.record(
      row.tenant,
      row.id,
      { type: 'created', message: `From ${config.image}`, metadata: { actor: caller.actor } },
      () => {
        if (this.store.hasName(row.tenant, row.name))
          throw fail('already_exists', { what: 'sandbox', id: row.name });
        this.store.insert(row);
      },
    );
    return this.locks.run(row.id, () => this.bringUp(row, filled));
  }

  private async bringUp(row: Sandbox, filled?: Filled): Promise<Sandbox> {
    const start = performance.now();
    try {
      const spec = this.boxSpec(row.id, row.config);
      const box = await this.ingredients.starting(row, () =>
        this.driver.create(filled ? { ...spec, image: filled.image } : spec),
      );
      this.ingredients.used(row.tenant, row.config);
      const change = {
        state: 'running' as const,
        containerId: box.containerId,
        gitCommit: filled ? filled.gitCommit : await this.clone(row),
        expiresAt: this.expiry(row.config),
      };
      this.settle(row, 'creating', change, {
        type: 'running',
        message: 'Running',
        durationMs: performance.now() - start,
      });
    } catch (error) {
      await this.ingredients.ended(row, true);
      const failure = asAppError(error).message;
      this.settle(
        row,
        'creating',
        { state: 'failed', failure, reason: 'error', idempotencyKey: null },
        { type: 'failed', message: 'Could not be made', error: failure },
      );
      throw error;
    }
    return this.get(row.tenant, row.id);
  }

  /** The commit that is in the new box. When it cannot be had, the box is removed. */
  private async clone(row: Sandbox): Promise<string | null> {
    const { git } = row.config;
    if (!git) return null;
    try {
      return await cloneInto(this.driver, row.id, git);
    } catch (error) {
      await this.ingredients.ending(row, () => this.driver.remove(row.id), true);
      throw error;
    }
  }

  private async end(row: Sandbox, reason: Reason): Promise<void> {
    this.enter(row, 'terminate', { type: 'terminating', message: `Terminating (${reason})` });
    await this.ingredients.ending(row, () => this.driver.remove(row.id), true);
    await this.archives.remove(row.id);
    this.activity.delete(row.id);
    const change = {
      state: 'terminated' as const,
      reason,
      expiresAt: null,
      deleteAt: null,
      archiveAt: null,
    };
    this.settle(row, 'terminating', change, { type: 'terminated', message: `Gone for good (${reason})` });
  }

  /**
   * Takes a sandbox into the state that an operation goes through, with its event.
   * Errors: sandbox_wrong_state, when the operation is not allowed or somebody else was first.
   */
  enter(row: Sandbox, operation: Operation, event: NewEvent): void {
    const { from, through } = TRANSITIONS[operation];
    const updatedAt = this.app.clock.now();
    const done =
      allows(operation, row.state) &&
      through !== undefined &&
      this.events.record(row.tenant, row.id, event, () =>
        this.store.change(row.tenant, row.id, from, { state: through, updatedAt }),
      );
    if (!done) throw wrongState(row.id, row.state, operation);
  }

  private newRow(
    caller: Caller,
    config: SandboxConfig,
    request: CreateRequest,
    idempotencyKey?: string,
  ): Sandbox {
    const now = this.app.clock.now();
    const sessionId = request.sessionId || newId('ses', now);
    return {
      id: newId('sbx', now),
      tenant: caller.tenant,
      sessionId,
      name: request.name ?? '',
      backend: this.driver.name,
      containerId: '',
      state: 'creating',
      config,
      labels: request.labels ?? {},
      idempotencyKey: idempotencyKey ?? null,
      reason: null,
      failure: null,
      createdAt: now,
      updatedAt: now,
      expiresAt: null,
      stoppedAt: null,
      deleteAt: null,
      archiveAt: null,
      gitCommit: null,
    };
  }

  private imageOf(config: SandboxConfig): string {
    const plain = config.image === 'host' && config.templateId === undefined;
    return plain && this.driver.name === 'docker'
      ? this.app.config.get('sandbox.docker_image')
      : config.image;
  }

  /** Errors: resource_exhausted when no further sandbox may run. */
  checkRoom(count = 1): void {
    const most = this.app.config.get('sandbox.max');
    if (this.store.countActive() + count <= most) return;
    throw fail('resource_exhausted', {
      message: `There are ${most} sandboxes already (sandbox.max). Stop or remove one first.`,
    });
  }

  /** When a sandbox that sleeps from now on is to be archived and deleted; null for never. */
  sleepDates({ autoArchiveAfterDays, autoDeleteAfterDays }: SandboxConfig): SleepDates {
    const after = (days: number) => (days > 0 ? this.app.clock.now() + days * DAY_MS : null);
    return { archiveAt: after(autoArchiveAfterDays), deleteAt: after(autoDeleteAfterDays) };
  }

  private expiry(config: SandboxConfig): number | null {
    return config.timeoutMs > 0 ? this.app.clock.now() + config.timeoutMs : null;
  }
}
