import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Embed } from '../../gateway/index.ts';
import type { CodeCache } from '../../memory/index.ts';
import type { Bare, Embedded, VectorStore } from './vector-store.ts';

/** What vectors are made of and kept in. */
export interface VectorParts {
  readonly store: VectorStore;
  readonly cache: CodeCache;
  readonly embed: Embed;
  /** The model of a tenant; undefined: memories are found by their words alone. */
  readonly embeddingModel: (tenant: string) => string | undefined;
}

const JOB = 'agent_memories.embed';
const BATCH = 64;
const BATCH_MS = 60 * SECOND_MS;
/** Texts that are refused one after the other: then it is not the texts. */
const MOST_REFUSED = 5;
/** A model that has failed is let alone for so long: nobody waits for it twice. */
const REST_MS = 30 * SECOND_MS;

/** Makes vectors of memories and of questions. Without one, memories are found by their words. */
export class Vectors {
  /** Until when a tenant's model is let alone. */
  private readonly resting = new Map<string, number>();
  /** Tenants whose memories a job will look at. */
  private readonly queued = new Set<string>();

  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'log' | 'jobs'>,
    private readonly parts: VectorParts,
  ) {
    app.jobs.handle(JOB, async ({ tenant }, { attempts, maxAttempts }, signal) => {
      try {
        await this.fill(String(tenant), signal);
      } catch (error) {
        if (attempts < maxAttempts) this.queued.add(String(tenant));
        throw error;
      }
    });
  }

  /** The model of a tenant, as callers of the gateway name it. */
  modelOf(tenant: string): string | undefined {
    return this.parts.embeddingModel(tenant) || undefined;
  }

  /** Sees to memories that have no vector yet. */
  start(): void {
    for (const tenant of this.parts.store.tenants()) this.later(tenant);
  }

  /** Vectors of texts, in their order; undefined when there is no model, or it does not answer in time. */
  async of(
    caller: Caller,
    texts: readonly string[],
    signal: AbortSignal,
    ms: number,
  ): Promise<Embedded[] | undefined> {
    const { tenant } = caller;
    if (this.modelOf(tenant) === undefined || (this.resting.get(tenant) ?? 0) > this.app.clock.now())
      return undefined;
    try {
      return await this.made(caller, texts, signal, ms);
    } catch (error) {
      if (!signal.aborted) this.rest(tenant, error);
      return undefined;
    }
  }

  /** Lets a model be asked again that has failed a moment ago. */
  wake(tenant: string): void {
    if (this.resting.has(tenant)) this.resting.set(tenant, 0);
  }

  /** Says that a tenant has memories without a vector: they get theirs in the background. */
  later(tenant: string): void {
    const model = this.modelOf(tenant);
    if (model === undefined || this.queued.has(tenant)) return;
    if (this.parts.store.bare(tenant, model, [], 1).length === 0) return;
    this.queued.add(tenant);
    this.app.jobs.add({ kind: JOB, tenant, payload: { tenant } });
  }

  /** Lets go of a memory's vector in a space. Right after the transaction that has dropped it. */
  forget(space: number | undefined, memory: number): void {
    if (space !== undefined) this.parts.cache.bury(space, memory);
  }

  private async made(
    caller: Caller,
    texts: readonly string[],
    signal: AbortSignal,
    ms: number,
  ): Promise<Embedded[]> {
    const model = this.modelOf(caller.tenant) ?? '';
    const within = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
    const vectors = await this.parts.embed(caller, { model, texts, signal: within });
    if (this.resting.delete(caller.tenant)) {
      this.app.log.info('memories of agents are found by meaning again', { tenant: caller.tenant, model });
      this.later(caller.tenant);
    }
    return vectors.map((vector) => ({ model, vector }));
  }

  /** Said once until the model answers again. */
  private rest(tenant: string, error: unknown): void {
    if (!this.resting.has(tenant))
      this.app.log.warn('memories of agents are found by their words alone: no vectors can be made', {
        tenant,
        model: this.modelOf(tenant),
        error,
      });
    this.resting.set(tenant, this.app.clock.now() + REST_MS);
  }

  /** Gives the memories of a tenant their vectors. Errors: what the model refuses; the queue tries it again. */
  private async fill(tenant: string, signal: AbortSignal): Promise<void> {
    this.queued.delete(tenant);
    const refused = new Map<number, unknown>();
    for (;;) {
      const model = this.modelOf(tenant);
      const bare =
        model === undefined ? [] : this.parts.store.bare(tenant, model, [...refused.keys()], BATCH);
      if (bare.length === 0) break;
      for (const batch of byUser(bare)) await this.fillBatch(tenant, batch, refused, signal);
      signal.throwIfAborted();
    }
    for (const error of refused.values()) throw error;
  }

  /** One text that a model refuses does not keep the others from their vectors. Errors: when it refuses one after the other. */
  private async fillBatch(
    tenant: string,
    batch: readonly Bare[],
    refused: Map<number, unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      return await this.fillAll(tenant, batch, signal);
    } catch (error) {
      if (signal.aborted) throw error;
    }
    let inARow = 0;
    for (const memory of batch)
      try {
        await this.fillAll(tenant, [memory], signal);
        inARow = 0;
      } catch (error) {
        refused.set(memory.seq, error);
        if (++inARow === MOST_REFUSED || signal.aborted) throw error;
      }
  }

  private async fillAll(tenant: string, batch: readonly Bare[], signal: AbortSignal): Promise<void> {
    const texts = batch.map(({ content }) => content);
    const made = await this.made(callerOf(tenant, batch[0]?.userId ?? ''), texts, signal, BATCH_MS);
    const { store } = this.parts;
    const left = this.app.db.transaction(() =>
      batch.map((memory, i) => {
        const one = made[i];
        return one && store.isStill(tenant, memory) ? store.put(memory.seq, memory.shelf, one) : undefined;
      }),
    );
    for (const [i, space] of left.entries()) this.forget(space, batch[i]?.seq ?? 0);
  }
}

function byUser(all: readonly Bare[]): Bare[][] {
  return [...Map.groupBy(all, ({ userId }) => userId).values()];
}

/** Work of nobody who waits: it stands in the request log as of the one whose memory it is. */
function callerOf(tenant: string, userId: string): Caller {
  const person = userId.startsWith('usr_');
  return {
    tenant,
    role: 'member',
    actor: userId,
    via: person ? 'cookie' : 'api-key',
    ...(person ? { userId } : {}),
  };
}
