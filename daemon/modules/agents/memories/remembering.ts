import { fail } from '../../../../src/errors/app-error.ts';
import { KeyedLock } from '../../../../src/kit/keyed-lock.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import { checkMemory } from './checks.ts';
import type { NewMemory } from './face.ts';
import { NEARLY_THE_SAME } from './likeness.ts';
import { type Candidate, type Dropped, type Placing, shelfFor } from './placing.ts';
import type { Recall } from './recall.ts';
import type { MemoryStore } from './store.ts';
import type { MemoryRow } from './tables.ts';
import type { Embedded } from './vector-store.ts';
import type { Vectors } from './vectors.ts';

/** What remembering asks and writes to. */
export interface RememberingParts {
  readonly memories: MemoryStore;
  readonly vectors: Vectors;
  readonly recall: Recall;
  readonly placing: Placing;
}

/** On whose behalf something is kept, and how. */
export interface Keeping {
  readonly caller: Caller;
  readonly agentId: string;
  readonly signal: AbortSignal;
  /** When it was said; now when absent. */
  readonly saidAt?: number;
  /** Writes what is kept if it is still wanted, with what shall be known of it: all of that is one transaction. */
  readonly mark?: (write: () => MemoryRow[]) => MemoryRow[];
}

const VECTOR_MS = 10 * SECOND_MS;
const NEAR = 3;

/** Keeps memories: a fact has one valid version, and what is said twice is there once. */
export class Remembering {
  private readonly locks = new KeyedLock();

  constructor(
    private readonly app: Pick<App, 'db' | 'clock'>,
    private readonly parts: RememberingParts,
  ) {}

  /**
   * Keeps memories of an agent, all or none. Answers the rows that say it: new ones, or those that say the same already. Errors:
   * invalid_argument, resource_exhausted.
   */
  async keep(keeping: Keeping, memories: readonly NewMemory[]): Promise<MemoryRow[]> {
    const { caller, signal, mark = (write) => write() } = keeping;
    for (const memory of memories) checkMemory(memory);
    const texts = memories.map(({ content }) => content);
    const embedded = texts.length === 0 ? [] : await this.parts.vectors.of(caller, texts, signal, VECTOR_MS);
    const rows = await this.locks.run(caller.tenant, async () => {
      const candidates: Candidate[] = [];
      for (const [i, memory] of memories.entries())
        candidates.push(await this.candidate(keeping, memory, embedded?.[i]));
      const dropped: Dropped[] = [];
      const write = () => candidates.map((one) => this.parts.placing.place(one, dropped));
      const written = this.app.db.transaction(() => mark(write));
      for (const [space, memory] of dropped) this.parts.vectors.forget(space, memory);
      return written;
    });
    if (!embedded && memories.length > 0) this.parts.vectors.later(caller.tenant);
    return rows;
  }

  /** Keeps one memory. Errors: as `keep`. */
  async keepOne(keeping: Keeping, memory: NewMemory): Promise<MemoryRow> {
    const [row] = await this.keep(keeping, [memory]);
    if (!row) throw fail('internal');
    return row;
  }

  /** Keeps one memory for a call of a tool: once, however often the call is carried out. Errors: as `keep`. */
  keepOnce(keeping: Omit<Keeping, 'mark'>, callId: string, memory: NewMemory): Promise<MemoryRow> {
    const { tenant } = keeping.caller;
    const { memories } = this.parts;
    const mark: Keeping['mark'] = (write) => {
      const stored = memories.storedBy(tenant, callId);
      if (stored) return [stored];
      const rows = write();
      for (const { id } of rows) memories.noteCall(tenant, callId, id, this.app.clock.now());
      return rows;
    };
    return this.keepOne({ ...keeping, mark }, memory);
  }

  private async candidate(
    { caller, agentId, saidAt = this.app.clock.now() }: Keeping,
    memory: NewMemory,
    embedded: Embedded | undefined,
  ): Promise<Candidate> {
    const one = { caller, agentId, memory, saidAt, embedded, near: [] };
    const shelf = this.parts.memories.findShelf(caller.tenant, shelfFor(one));
    if (!embedded || shelf === undefined) return one;
    const near = await this.parts.recall.near([shelf], embedded, NEAR);
    const same = near.filter(({ cosine }) => cosine >= NEARLY_THE_SAME);
    return { ...one, near: same.map((found) => found.memory) };
  }
}
