import type { agentMemories } from '../../../../src/api/agents/memories.ts';
import type { Input } from '../../../../src/api/endpoint.ts';
import { fail } from '../../../../src/errors/app-error.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Agent, Agents } from '../definitions/agent.ts';
import { checkConfidence, checkContent, checkFactKey } from './checks.ts';
import { digestOf } from './likeness.ts';
import type { Dropped, Placing } from './placing.ts';
import type { Keeping, Remembering } from './remembering.ts';
import { userOf } from './shelves.ts';
import type { MemoryChange, MemoryStore } from './store.ts';
import type { MemoryRow } from './tables.ts';
import type { Embedded, VectorStore } from './vector-store.ts';
import type { Vectors } from './vectors.ts';

type ListQuery = Input<typeof agentMemories.ListAgentMemories>['query'];
type Wanted = Input<typeof agentMemories.CreateAgentMemory>['body'];
type WantedChange = Input<typeof agentMemories.UpdateAgentMemory>['body'];

/** What the operations on memories need. */
export interface MemoryParts {
  readonly agents: Agents;
  readonly memories: MemoryStore;
  readonly vectorStore: VectorStore;
  readonly vectors: Vectors;
  readonly remembering: Remembering;
  readonly placing: Placing;
}

const VECTOR_MS = 10 * SECOND_MS;

/** What is searched with, as SetupMemory says it. */
export interface Setup {
  readonly backend: 'sqlite-fts5' | 'sqlite-fts5+vectors';
  readonly message: string;
}

/** Memories as people look after them. */
export class MemoryService {
  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit'>,
    private readonly parts: MemoryParts,
  ) {}

  /** A page of an agent's memories, newest first. Errors: not_found naming the agent. */
  list(
    caller: Caller,
    agent: string,
    { memoryType, scope, activeOnly, includeShared, ...page }: ListQuery,
  ): { rows: MemoryRow[]; total: number } {
    const party = { agentId: this.agent(caller, agent).id, userId: userOf(caller) };
    const filter = { type: memoryType, scope, activeOnly, includeShared, ...pageOf(page) };
    return this.parts.memories.list(caller.tenant, party, filter);
  }

  /** Gives an agent a memory. Errors: not_found naming the agent, invalid_argument naming the field, resource_exhausted. */
  async create(caller: Caller, agent: string, wanted: Wanted, signal: AbortSignal): Promise<MemoryRow> {
    const { memoryType: type = 'fact', content = '', factKey, confidence, scope = 'agent' } = wanted;
    const { id } = this.agent(caller, agent);
    const memory = { type, content, factKey, confidence, scope, source: 'user_explicit' } as const;
    const mark: Keeping['mark'] = (write) => {
      const rows = write();
      for (const { id: target } of rows) this.record(caller, 'agent_memory.create', target);
      return rows;
    };
    return this.parts.remembering.keepOne({ caller, agentId: id, signal, mark }, memory);
  }

  /**
   * Changes what is sent of a memory. Errors: not_found, invalid_argument naming the field, failed_precondition when it is no longer
   * valid, already_exists when another valid one has the fact key.
   */
  async update(caller: Caller, id: string, wanted: WantedChange, signal: AbortSignal): Promise<MemoryRow> {
    const { content, factKey, confidence } = wanted;
    if (content !== undefined) checkContent(content);
    if (factKey !== undefined) checkFactKey(factKey);
    if (confidence !== undefined) checkConfidence(confidence);
    const { content: before } = this.valid(caller, id);
    const isNew = content !== undefined && content.trim() !== before;
    const made = isNew ? await this.parts.vectors.of(caller, [content], signal, VECTOR_MS) : undefined;
    let dropped: Dropped | undefined;
    const row = this.app.db.transaction(() => {
      const old = this.valid(caller, id);
      this.refuseTaken(old, factKey);
      if (content !== undefined && content.trim() !== old.content)
        dropped = this.replaceVector(old, made?.[0]);
      this.record(caller, 'agent_memory.update', id);
      return this.parts.memories.change(caller.tenant, old, {
        ...changeOf(wanted),
        updatedAt: this.app.clock.now(),
      });
    });
    if (dropped) this.parts.vectors.forget(...dropped);
    this.parts.vectors.later(caller.tenant);
    return row;
  }

  /** Takes a memory out of use and keeps its row; one that is out of use stays so. Errors: not_found. */
  retire(caller: Caller, id: string): void {
    const { seq, space } = this.app.db.transaction(() => {
      const row = this.get(caller, id);
      if (!row.active) return { seq: row.seq, space: undefined };
      const space = this.parts.vectorStore.drop(row.seq);
      const updatedAt = this.app.clock.now();
      this.parts.memories.change(caller.tenant, row, { active: false, updatedAt });
      this.record(caller, 'agent_memory.deactivate', id);
      return { seq: row.seq, space };
    });
    this.parts.vectors.forget(space, seq);
  }

  /** Removes a memory for good. Errors: not_found. */
  remove(caller: Caller, id: string): void {
    const dropped = this.app.db.transaction(() => {
      const row = this.get(caller, id);
      this.record(caller, 'agent_memory.delete', id);
      return this.parts.placing.remove(caller.tenant, row);
    });
    this.parts.vectors.forget(...dropped);
  }

  /** Makes what memories are searched in, and says what that is. */
  async setup(caller: Caller, signal: AbortSignal): Promise<Setup> {
    this.app.db.transaction(() => this.parts.memories.book(caller.tenant));
    const model = this.parts.vectors.modelOf(caller.tenant);
    if (model === undefined)
      return {
        backend: 'sqlite-fts5',
        message:
          'Memories are found by their words. To find them by meaning too, name a model in features.memory.embedding_models.',
      };
    this.parts.vectors.wake(caller.tenant);
    const made = await this.parts.vectors.of(caller, ['setup'], signal, VECTOR_MS);
    this.parts.vectors.later(caller.tenant);
    if (!made)
      return {
        backend: 'sqlite-fts5',
        message: `Memories are found by their words: the model ${model} does not answer. They get their vectors when it does (svc logs shows why).`,
      };
    return {
      backend: 'sqlite-fts5+vectors',
      message: `Memories are found by their words and by meaning, with vectors of ${made[0]?.vector.length ?? 0} numbers by ${model}.`,
    };
  }

  private agent({ tenant }: Caller, reference: string): Agent {
    return this.parts.agents.find(tenant, reference) ?? this.parts.agents.get(tenant, reference);
  }

  private get(caller: Caller, id: string): MemoryRow {
    const row = this.parts.memories.find(caller.tenant, userOf(caller), id);
    if (!row) throw fail('not_found', { what: 'memory', id });
    return row;
  }

  private valid(caller: Caller, id: string): MemoryRow {
    const row = this.get(caller, id);
    if (row.active) return row;
    const why = row.supersededBy ? `${row.supersededBy} has taken its place` : 'it was retired';
    throw fail('failed_precondition', { message: `The memory ${id} is not in use: ${why}.` });
  }

  private refuseTaken({ tenant, shelf, seq }: MemoryRow, factKey: string | undefined): void {
    const other = factKey ? this.parts.memories.byKey(tenant, shelf, factKey) : undefined;
    if (other && other.seq !== seq) throw fail('already_exists', { what: 'fact', id: factKey ?? '' });
  }

  private replaceVector({ seq, shelf }: MemoryRow, made: Embedded | undefined): Dropped {
    if (made) return [this.parts.vectorStore.put(seq, shelf, made), seq];
    return [this.parts.vectorStore.drop(seq), seq];
  }

  private record({ tenant, actor }: Caller, action: string, target: string): void {
    this.app.audit.record({ tenant, actor, action, target });
  }
}

function changeOf({ content, factKey, confidence }: WantedChange): MemoryChange {
  return {
    ...(content === undefined ? {} : { content: content.trim(), digest: digestOf(content) }),
    ...(factKey === undefined ? {} : { factKey }),
    ...(confidence === undefined ? {} : { confidence }),
  };
}
