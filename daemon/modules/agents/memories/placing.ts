import { fail } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { NewMemory } from './face.ts';
import { addsNothing, digestOf } from './likeness.ts';
import { LIMITS } from './limits.ts';
import { shelfOf, userOf } from './shelves.ts';
import type { MemoryStore } from './store.ts';
import type { MemoryRow } from './tables.ts';
import type { Embedded, VectorStore } from './vector-store.ts';

/** Something to remember, with what was found out about it. */
export interface Candidate {
  readonly caller: Caller;
  readonly agentId: string;
  readonly memory: NewMemory;
  /** When it was said: what was said later counts, whatever is written down first. */
  readonly saidAt: number;
  readonly embedded?: Embedded;
  /** Active memories that say nearly the same, nearest first. */
  readonly near: readonly number[];
}

/** A vector that was dropped from its space. */
export type Dropped = readonly [space: number | undefined, memory: number];

const USUAL_CONFIDENCE = 1;
/** The share of doubt that goes when something is said again. */
const DOUBT_TAKEN = 0.25;

/** The shelf that something will stand on. */
export function shelfFor({ caller, agentId, memory }: Pick<Candidate, 'caller' | 'agentId' | 'memory'>) {
  return shelfOf(memory.scope, { agentId, userId: userOf(caller) });
}

/** Writes memories where they belong. Each call is part of a transaction; vectors that were dropped are to be forgotten after it. */
export class Placing {
  constructor(
    private readonly app: Pick<App, 'clock'>,
    private readonly parts: { readonly memories: MemoryStore; readonly vectorStore: VectorStore },
  ) {}

  /**
   * Writes a memory: in place of the valid version of its fact, or beside the others; what says the same already only becomes surer.
   * Answers the row that says it now. Errors: resource_exhausted.
   */
  place(one: Candidate, dropped: Dropped[]): MemoryRow {
    const { memory, saidAt } = one;
    const { tenant } = one.caller;
    const shelf = this.parts.memories.shelf(tenant, shelfFor(one));
    const known = memory.factKey ? this.parts.memories.byKey(tenant, shelf, memory.factKey) : undefined;
    const same = known ? sameText(known, memory) : this.twin(shelf, one);
    if (same) return this.raise(same, one);
    const id = newId('mem', this.app.clock.now());
    const isOutdated = known !== undefined && known.updatedAt > saidAt;
    if (known && !isOutdated) this.supersede(known, id, dropped);
    this.makeRoom(tenant, dropped);
    return this.insert(shelf, one, id, isOutdated ? known.id : null);
  }

  /** Removes a memory, its words and its vector. */
  remove(tenant: string, row: MemoryRow): Dropped {
    const space = this.parts.vectorStore.drop(row.seq);
    this.parts.memories.remove(tenant, row);
    return [space, row.seq];
  }

  /** The memory that says the same. One that is known to be of another fact is none. */
  private twin(shelf: number, { caller: { tenant }, memory, near }: Candidate): MemoryRow | undefined {
    const isOther = ({ factKey }: MemoryRow) =>
      Boolean(memory.factKey) && factKey !== '' && factKey !== memory.factKey;
    const same = this.parts.memories.byText(tenant, shelf, digestOf(memory.content));
    if (same && !isOther(same)) return same;
    return near
      .map((seq) => this.parts.memories.bySeq(tenant, seq))
      .find((row) => row?.active && !isOther(row) && addsNothing(memory.content, row.content));
  }

  private raise(row: MemoryRow, { caller, memory, saidAt }: Candidate): MemoryRow {
    const { confidence = USUAL_CONFIDENCE, factKey } = memory;
    const surer = Math.max(row.confidence, confidence);
    return this.parts.memories.change(caller.tenant, row, {
      confidence: surer + (1 - surer) * DOUBT_TAKEN,
      updatedAt: Math.max(row.updatedAt, saidAt),
      ...(row.factKey === '' && factKey ? { factKey } : {}),
    });
  }

  private supersede(row: MemoryRow, successor: string, dropped: Dropped[]): void {
    dropped.push([this.parts.vectorStore.drop(row.seq), row.seq]);
    const updatedAt = this.app.clock.now();
    this.parts.memories.change(row.tenant, row, { active: false, supersededBy: successor, updatedAt });
  }

  private insert(shelf: number, one: Candidate, id: string, supersededBy: string | null): MemoryRow {
    const { caller, agentId, memory, saidAt, embedded } = one;
    const row = this.parts.memories.insert(caller.tenant, {
      ...{ id, agentId, shelf, userId: userOf(caller), createdAt: saidAt, updatedAt: saidAt },
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
      active: supersededBy === null,
      supersededBy,
    });
    if (embedded && row.active) this.parts.vectorStore.put(row.seq, shelf, embedded);
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

function sameText(row: MemoryRow, { content }: NewMemory): MemoryRow | undefined {
  return row.digest === digestOf(content) ? row : undefined;
}
