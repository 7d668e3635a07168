import { fail } from '../../../../../src/errors/app-error.ts';
import type { Clock } from '../../../../../src/kit/time.ts';
import { BackgroundRun } from './background-run.ts';
import type { Conversation } from './conversation.ts';
import { errorOf } from './failure.ts';
import type { Foreground } from './foreground.ts';
import type { Keeping } from './keeping.ts';
import { callOf, type Run } from './run.ts';
import type { Kept, ResponseStore } from './store.ts';
import { endOf, type ResponseEvent, type ResponseObject } from './wire.ts';

/** Most responses of one tenant that wait. */
const MOST_WAITING = 100;

/** What the background works with. */
export interface BackgroundParts {
  readonly store: ResponseStore;
  readonly keeping: Keeping;
  readonly foreground: Foreground;
  readonly clock: Clock;
  /** How many of one tenant are made at once. */
  readonly most: () => number;
}

interface Line {
  readonly running: Set<BackgroundRun>;
  readonly waiting: BackgroundRun[];
}

/**
 * Responses that are made apart from the connection that asked for them. Each is a row before its caller hears of it. One that had not begun when the
 * process ended is made after the next start; one that had begun has failed then, since a model is not asked twice for one answer.
 */
export class Background {
  private readonly runs = new Map<string, BackgroundRun>();
  private readonly lines = new Map<string, Line>();
  private isStopping = false;

  constructor(private readonly parts: BackgroundParts) {}

  /** Takes one up. Errors: resource_exhausted when too many wait. */
  begin(
    tenant: string,
    run: Run,
    response: ResponseObject,
    { own: input, chain }: Conversation,
  ): BackgroundRun {
    if (this.lineOf(tenant).waiting.length >= MOST_WAITING)
      throw fail('resource_exhausted', {
        message: `${MOST_WAITING} responses wait in the background already. Wait for some of them.`,
      });
    const now = this.parts.clock.now();
    const started = new BackgroundRun(tenant, run, response);
    this.parts.store.putAll([{ row: { ...rowOf(started, now), run }, response, input, chain }]);
    this.enqueue(started);
    return started;
  }

  /** One that is not over. */
  find(tenant: string, id: string): BackgroundRun | undefined {
    return this.runs.get(keyOf(tenant, id));
  }

  /** Ends one; resolves when it is kept. */
  async cancel(run: BackgroundRun): Promise<void> {
    const { waiting } = this.lineOf(run.tenant);
    const at = waiting.indexOf(run);
    run.abort();
    if (at < 0) return run.ended;
    waiting.splice(at, 1);
    await this.close(run, { ...run.response, status: 'cancelled' }, '');
  }

  /** Takes up what the last process has left. */
  recover(): void {
    for (const { tenant, id, status, run } of this.parts.store.unfinished()) {
      const found = this.parts.store.find(tenant, id);
      if (!found || !run) continue;
      const revived = new BackgroundRun(tenant, run, found.response);
      if (status === 'queued') this.enqueue(revived);
      else this.parts.store.putAll([keptAs(revived, cutOff(found.response), '', this.parts.clock.now())]);
    }
  }

  /** Ends what runs. What waits stays for the next start. */
  async stop(): Promise<void> {
    this.isStopping = true;
    const running = [...this.lines.values()].flatMap((line) => [...line.running]);
    for (const run of running) {
      run.isStopped = true;
      run.abort();
    }
    await Promise.all(running.map((run) => run.ended));
  }

  private enqueue(run: BackgroundRun): void {
    this.runs.set(keyOf(run.tenant, run.response.id), run);
    this.lineOf(run.tenant).waiting.push(run);
    this.advance(run.tenant);
  }

  private advance(tenant: string): void {
    const line = this.lineOf(tenant);
    while (!this.isStopping && line.running.size < this.parts.most()) {
      const next = line.waiting.shift();
      if (!next) break;
      line.running.add(next);
      void this.execute(next).finally(() => {
        line.running.delete(next);
        this.advance(tenant);
      });
    }
    if (line.running.size === 0 && line.waiting.length === 0) this.lines.delete(tenant);
  }

  /** Never fails. */
  private async execute(run: BackgroundRun): Promise<void> {
    const { store, foreground } = this.parts;
    const { tenant, response } = run;
    run.response = { ...response, status: 'in_progress' };
    try {
      if (!store.change(tenant, response.id, { status: 'in_progress' })) return run.abort();
      const call = callOf(tenant, run.run, run.signal);
      const steps = foreground.steps(call, run.response, (end, provider, bytes) =>
        this.close(run, end, provider, bytes && run.read(bytes)),
      );
      for await (const { bytes, end } of steps) if (!end) run.add(run.read(bytes));
    } catch (error) {
      const status = run.signal.aborted ? 'cancelled' : 'failed';
      const failure = status === 'failed' ? { error: errorOf(error) } : {};
      await this.close(run, { ...run.response, status, ...failure }, '');
    } finally {
      if (!run.isOver) await this.close(run, { ...run.response, status: 'cancelled' }, '');
    }
  }

  private async close(
    run: BackgroundRun,
    ended: ResponseObject,
    provider: string,
    events: readonly ResponseEvent[] = [endOf(ended, 0)],
  ): Promise<void> {
    if (run.isOver) return;
    const isCutOff = run.isStopped && ended.status === 'cancelled';
    const response = isCutOff ? cutOff(ended) : ended;
    const last = isCutOff ? [endOf(response, 0)] : events;
    const log = await Bun.zstdCompress(run.logWith(last));
    await this.parts.keeping.keep(keptAs(run, response, provider, this.parts.clock.now(), log));
    this.runs.delete(keyOf(run.tenant, run.response.id));
    run.end(response, last);
  }

  private lineOf(tenant: string): Line {
    const line = this.lines.get(tenant) ?? { running: new Set(), waiting: [] };
    this.lines.set(tenant, line);
    return line;
  }
}

function rowOf({ tenant, response }: BackgroundRun, now: number): Kept['row'] {
  return {
    tenant,
    id: response.id,
    status: response.status,
    background: true,
    previousId: response.previous_response_id ?? null,
    provider: '',
    run: null,
    events: null,
    createdAt: now,
    usedAt: now,
  };
}

function keptAs(
  run: BackgroundRun,
  response: ResponseObject,
  provider: string,
  now: number,
  events: Buffer | null = null,
): Kept {
  return { row: { ...rowOf(run, now), status: response.status, provider, events }, response };
}

function cutOff(response: ResponseObject): ResponseObject {
  const error = {
    code: 'server_error',
    message: 'The gateway stopped while this response was made. Ask again.',
  };
  return { ...response, status: 'failed', error };
}

function keyOf(tenant: string, id: string): string {
  return `${tenant} ${id}`;
}
