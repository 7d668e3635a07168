import { DAY_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { CodeCache } from '../../memory/index.ts';
import type { Agents } from '../definitions/agent.ts';
import { isThere } from './is-there.ts';
import type { Placing } from './placing.ts';
import type { MemoryStore } from './store.ts';
import type { VectorStore } from './vector-store.ts';

/** What forgetting asks and removes from. */
export interface ForgettingParts {
  readonly agents: Agents;
  readonly memories: MemoryStore;
  readonly vectorStore: VectorStore;
  readonly cache: CodeCache;
  readonly placing: Placing;
}

const A_STEP = 32;

/** Removes what an agent alone has known, when the agent is gone: once a day, step by step. */
export class Forgetting {
  constructor(
    private readonly app: Pick<App, 'db' | 'jobs'>,
    private readonly parts: ForgettingParts,
  ) {
    app.jobs.every('agent_memories.forget', DAY_MS, (_, __, signal) => this.sweep(signal));
  }

  private async sweep(signal: AbortSignal): Promise<void> {
    for (const { tenant, owner, seq } of this.parts.memories.agentShelves())
      if (!isThere(this.parts.agents, tenant, owner)) await this.forget(tenant, seq, signal);
  }

  private async forget(tenant: string, shelf: number, signal: AbortSignal): Promise<void> {
    const { memories, placing, vectorStore, cache } = this.parts;
    for (let left = A_STEP; left === A_STEP; await Bun.sleep(1)) {
      signal.throwIfAborted();
      left = this.app.db.transaction(() => {
        const rows = memories.ofShelf(tenant, shelf, A_STEP);
        for (const row of rows) placing.remove(tenant, row);
        return rows.length;
      });
    }
    const spaces = this.app.db.transaction(() => {
      const dropped = vectorStore.dropSpaces(shelf);
      memories.dropShelf(tenant, shelf);
      return dropped;
    });
    for (const space of spaces) cache.forget(space);
  }
}
