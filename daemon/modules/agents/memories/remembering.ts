import { fail } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import { KeyedLock } from '../../../../src/kit/keyed-lock.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import { checkMemory } from './checks.ts';
import type { NewMemory } from './face.ts';
import { addsNothing, digestOf, NEARLY_THE_SAME } from './likeness.ts';
import { LIMITS } from './limits.ts';
import type { Recall } from './recall.ts';
import { shelfOf, userOf } from './shelves.ts';
import type { MemoryStore } from './store.ts';
import type { MemoryRow } from './tables.ts';
import type { Embedded, VectorStore } from './vector-store.ts';
import type { Vectors } from './vectors.ts';

/** What remembering writes to. */
export interface RememberingParts {
  readonly memories: MemoryStore;
  readonly vectorStore: VectorStore;
  readonly vectors: Vectors;
  readonly recall: Recall;
}

/** Something to remember, with what was found out about it. */
interface Candidate {
  readonly memory: NewMemory;
  readonly embedded?: Embedded;
  /** Active memories that say nearly the same, nearest first. */
  readonly near: readonly number[];
}

/** Writes memories if they are still wanted, with what shall be known of it, in one transaction. */
type Mark = (write: () => MemoryRow[]) => MemoryRow[];

/** A vector that was dropped from its space. */
export type Dropped = readonly [space: number | undefined, memory: number];

const VECTOR_MS = 10 * SECOND_MS;
const NEAR = 3;
const USUAL_CONFIDENCE = 1;
/** The share of doubt that goes when something is said again. */
const DOUBT_TAKEN = 0.25;

/** Keeps memories: a fact has one valid version, and what is said twice is there once. */
export class Remembering {
  private readonly locks = new KeyedLock();

  constructor(
    private readonly app: Pick<App, 'db' | 'clock'>,
    private readonly parts: RememberingParts,
  ) {}

  /**
   * Keeps memories of an agent, all or none, in one transaction with what `mark` does. Answers their rows: new
   * ones, or those that say the same already. Errors: invalid_argument, resource_exhausted.
   */
  async keep(
    caller: Caller,
    agentId: string,
    memories: readonly NewMemory[],
    signal: AbortSignal,
    mark: Mark = (write) => write(),
  ): Promise<MemoryRow[]> {
    for (const memory of memories) checkMemory(memory);
    const texts = memories.map(({ content }) => content);
    const embedded = texts.length === 0 ? [] : await this.parts.vectors.of(caller, texts, signal, VECTOR_MS);
    const rows = await this.locks.run(caller.tenant, async () => {
      const candidates: Candidate[] = [];
      for (const [i, memory] of memories.entries())
        candidates.push(await this.candidate(caller, agentId, memory, embedded?.[i]));
      const dropped: Dropped[] = [];
      const written = this.app.db.transaction(() =>
        mark(() => candidates.map((one) => this.place(caller, agentId, one, dropped))),
      );
      for (const [space, memory] of dropped) this.parts.vectors.forget(space, memory);
      return written;
    });
    if (!embedded && memories.length > 0) this.parts.vectors.later(caller.tenant);
    return rows;
  }

  /** Keeps one memory. Errors: as `keep`. */
  async keepOne(
    caller: Caller,
    agentId: string,
    memory: NewMemory,
    signal: AbortSignal,
    mark?: Mark,
  ): Promise<MemoryRow> {
    const [row] = await this.keep(caller, agentId, [memory], signal, mark);
    if (!row) throw fail('internal');
    return row;
  }

  /** Keeps one memory for a call of a tool: once, however often the call is carried out. Errors: as `keep`. */
  keepOnce(
    caller: Caller,
    agentId: string,
    callId: string,
    memory: NewMemory,
    signal: AbortSignal,
  ): Promise<MemoryRow> {
    const { memories } = this.parts;
    return this.keepOne(caller, agentId, memory, signal, (write) => {
      const stored = memories.storedBy(caller.tenant, callId);
      if (stored) return [stored];
      const rows = write();
      for (const { id } of rows) memories.noteCall(caller.tenant, callId, id, this.app.clock.now());
      return rows;
    });
  }

  /** Removes a memory, its words and its vector. Part of a transaction; the space is to be forgotten after it. */
  remove(tenant: string, row: MemoryRow): Dropped {
    const space = this.parts.vectorStore.drop(row.seq);
    this.parts.memories.remove(tenant, row);
    return [space, row.seq];
  }

  private async candidate(
    caller: Caller,
    agentId: string,
    memory: NewMemory,
    embedded: Embedded | undefined,
  ): Promise<Candidate> {
    const shelf = this.parts.memories.findShelf(caller.tenant, shelfFor(caller, agentId, memory));
    if (!embedded || shelf === undefined) return { memory, embedded, near: [] };
    const near = await this.parts.recall.near([shelf], embedded, NEAR);
    return {
      memory,
      embedded,
      near: near.filter(({ cosine }) => cosine >= NEARLY_THE_SAME).map((one) => one.memory),
    };
  }

  private place(caller: Caller, agentId: string, one: Candidate, dropped: Dropped[]): MemoryRow {
    const { tenant } = caller;
    const { memory } = one;
    const shelf = this.parts.memories.shelf(tenant, shelfFor(caller, agentId, memory));
    const older = memory.factKey ? this.parts.memories.byKey(tenant, shelf, memory.factKey) : undefined;
    const same = older ? sameText(older, memory) : this.twin(tenant, shelf, one);
    if (same) return this.raise(tenant, same, memory);
    const now = this.app.clock.now();
    const id = newId('mem', now);
    if (older) {
      dropped.push([this.parts.vectorStore.drop(older.seq), older.seq]);
      this.parts.memories.change(tenant, older, { active: false, supersededBy: id, updatedAt: now });
    }
    this.makeRoom(tenant, dropped);
    return this.insert(caller, agentId, shelf, one, id);
  }

  /** The memory that says the same. One that is known to be of another fact is none. */
  private twin(tenant: string, shelf: number, { memory, near }: Candidate): MemoryRow | undefined {
    const isOther = ({ factKey }: MemoryRow) =>
      Boolean(memory.factKey) && factKey !== '' && factKey !== memory.factKey;
    const same = this.parts.memories.byText(tenant, shelf, digestOf(memory.content));
    if (same && !isOther(same)) return same;
    return near
      .map((seq) => this.parts.memories.bySeq(tenant, seq))
      .find((row) => row?.active && !isOther(row) && addsNothing(memory.content, row.content));
  }

  private raise(
    tenant: string,
    row: MemoryRow,
    { confidence = USUAL_CONFIDENCE, factKey }: NewMemory,
  ): MemoryRow {
    const surer = Math.max(row.confidence, confidence);
    return this.parts.memories.change(tenant, row, {
      confidence: surer + (1 - surer) * DOUBT_TAKEN,
      updatedAt: this.app.clock.now(),
      ...(row.factKey === '' && factKey ? { factKey } : {}),
    });
  }

  private insert(
    caller: Caller,
    agentId: string,
    shelf: number,
    { memory, embedded }: Candidate,
    id: string,
  ): MemoryRow {
    const now = this.app.clock.now();
    const row = this.parts.memories.insert(caller.tenant, {
      ...{ id, agentId, shelf, userId: userOf(caller), createdAt: now, updatedAt: now },
      scope: memory.scope,
      type: memory.type,
      content: memory.content.trim(),
      digest: digestOf(memory.content),
      factKey: memory.factKey ?? '',
      confidence: memory.confidence ?? USUAL_CONFIDENCE,
      source: memory.source,
      sessionId: memory.sessionId ?? null,
      turnNumber: memory.turnNumber ?? null,
      accessCount: 0,
      lastAccessedAt: null,
      active: true,
      supersededBy: null,
    });
    if (embedded) this.parts.vectorStore.put(row.seq, shelf, embedded);
    return row;
  }

  /** At the bound what has been retired for longest goes. Errors: resource_exhausted when nothing is retired. */
  private makeRoom(tenant: string, dropped: Dropped[]): void {
    const { count } = this.parts.memories.book(tenant);
    if (count < LIMITS.memories) return;
    const oldest = this.parts.memories.oldestRetired(tenant);
    if (!oldest)
      throw fail('resource_exhausted', {
        message: `The agents of a tenant keep at most ${LIMITS.memories} memories.`,
      });
    dropped.push(this.remove(tenant, oldest));
  }
}

function shelfFor(caller: Caller, agentId: string, { scope }: NewMemory) {
  return shelfOf(scope, { agentId, userId: userOf(caller) });
}

function sameText(row: MemoryRow, { content }: NewMemory): MemoryRow | undefined {
  return row.digest === digestOf(content) ? row : undefined;
}
