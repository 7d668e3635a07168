import { asAppError } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { CronStore } from './cron-store.ts';
import type { Outcome } from './execute.ts';
import type { RunStore } from './run-store.ts';
import type { CronRow, RunRow, WebhookRow } from './tables.ts';
import type { WebhookStore } from './webhook-store.ts';

/** Runs at once: of the instance, and of one tenant. */
const MOST_AT_ONCE = 64;
const MOST_OF_ONE = 32;

/** Characters of an error that are kept. */
const MAX_ERROR = 1_000;

/** Time until a run that could not be written down is tried again. */
const RETRY_MS = 10_000;

const INTERRUPTED = 'svc was restarted while it ran';

/** The rows of this room. */
export interface Stores {
  readonly crons: CronStore;
  readonly webhooks: WebhookStore;
  readonly runs: RunStore;
}

interface Begun {
  /** Undefined when its cron or webhook is no more. */
  readonly definition: CronRow | WebhookRow | undefined;
  readonly run: RunRow;
}

/** Does the work of one run; `change` adds to its row what becomes known of it. */
export type Work = (
  definition: CronRow | WebhookRow,
  run: RunRow,
  change: (known: Partial<RunRow>) => void,
) => Promise<Outcome>;

/**
 * Takes queued runs up in the order they came, so many at once, one after the other in a lane. A run begins at
 * most once: it is written down as running before anything is done, and one that is found running at a start
 * was interrupted and is not begun again. One that is found queued has not begun, and is.
 */
export class Runner {
  private readonly active = new Map<number, { readonly tenant: string; readonly lane: string | null }>();
  private readonly waiters = new Map<number, (outcome: Outcome) => void>();
  private stopped = true;

  constructor(
    private readonly app: App,
    private readonly stores: Stores,
    private readonly work: Work,
  ) {}

  start(): void {
    this.stopped = false;
    this.write(() => {
      for (const run of this.stores.runs.running()) this.settle(run, 'interrupted', INTERRUPTED);
    });
  }

  stop(): void {
    this.stopped = true;
  }

  /**
   * Writes something, such as a run to be done, and begins what may begin: in one transaction, and what is begun
   * is done when it is on the disk. Returns what `write` did.
   */
  write<T>(write: () => T): T {
    const begun: Begun[] = [];
    try {
      return this.app.db.transaction(() => {
        const result = write();
        this.take(begun);
        return result;
      });
    } catch (error) {
      for (const { run } of begun.splice(0)) this.active.delete(run.id);
      throw error;
    } finally {
      // Whoever waits for an acknowledgement has it first: starting a command takes the thread for a while.
      for (const one of begun) setImmediate(() => this.launch(one));
    }
  }

  /** How a queued or running run ends, as long as it does so within `ms`; undefined later than that. */
  outcome(id: number, ms: number): Promise<Outcome | undefined> {
    const { promise, resolve } = Promise.withResolvers<Outcome | undefined>();
    const timer = setTimeout(() => resolve(undefined), ms);
    this.waiters.set(id, resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.waiters.delete(id);
    });
  }

  private busy() {
    const active = [...this.active.values()];
    const tenants = [...new Set(active.map(({ tenant }) => tenant))];
    return {
      lanes: active.map(({ lane }) => lane).filter((lane) => lane !== null),
      tenants: tenants.filter((one) => active.filter(({ tenant }) => tenant === one).length >= MOST_OF_ONE),
    };
  }

  /** Writes down what begins now; inside a transaction. */
  private take(begun: Begun[]): void {
    const startedAt = this.app.clock.now();
    while (!this.stopped && this.active.size < MOST_AT_ONCE) {
      const run = this.stores.runs.nextWaiting(this.busy());
      if (!run) return;
      const definition = this.definitionOf(run);
      if (run.type === 'cron' && definition) this.stores.crons.began(run.tenant, run.triggerId, startedAt);
      this.stores.runs.change(run.tenant, run.id, 'queued', { status: 'running', startedAt });
      this.active.set(run.id, run);
      begun.push({ definition, run: { ...run, status: 'running', startedAt } });
    }
  }

  private launch({ definition, run }: Begun): void {
    if (this.stopped) return;
    const gone = Promise.resolve(failure(`the ${run.type} was removed`));
    const done = definition ? this.attempt(definition, run) : gone;
    void done.then((outcome) => this.conclude(run, outcome));
  }

  /** Writes down how a run ended, and tries again when that fails (a full disk): until then it holds its place. */
  private conclude(run: RunRow, outcome: Outcome): void {
    if (this.stopped) return;
    this.active.delete(run.id);
    try {
      this.write(() => this.settle(run, outcome.status, outcome.error, outcome.exitCode));
    } catch (error) {
      this.active.set(run.id, run);
      this.app.log.error('a run could not be written down', { run: run.id, error });
      setTimeout(() => this.conclude(run, outcome), RETRY_MS);
      return;
    }
    this.waiters.get(run.id)?.(outcome);
  }

  private async attempt(definition: CronRow | WebhookRow, run: RunRow): Promise<Outcome> {
    const { tenant, id } = run;
    try {
      return await this.work(
        definition,
        run,
        (known) => void this.stores.runs.change(tenant, id, 'running', known),
      );
    } catch (error) {
      const known = asAppError(error);
      if (known.code === 'internal')
        this.app.log.error('a run failed inside svc', { type: run.type, trigger: run.triggerId, error });
      return failure(known.message.slice(0, MAX_ERROR));
    }
  }

  private settle(run: RunRow, status: RunRow['status'], error: string, exitCode: number | null = null): void {
    const finishedAt = this.app.clock.now();
    const { crons, webhooks, runs } = this.stores;
    const isDone = runs.end(run.tenant, run.id, { status, error, exitCode, finishedAt });
    if (!isDone || status === 'succeeded') return;
    const counter = run.type === 'cron' ? crons : webhooks;
    counter.failed(run.tenant, run.triggerId, error);
  }

  private definitionOf({ tenant, type, triggerId }: RunRow): CronRow | WebhookRow | undefined {
    const { crons, webhooks } = this.stores;
    return type === 'cron' ? crons.find(tenant, triggerId) : webhooks.find(tenant, triggerId);
  }
}

function failure(error: string): Outcome {
  return { status: 'failed', error, exitCode: null, executionId: '', stdout: '', stderr: '' };
}
