import type { App } from '../../../app.ts';
import type { CodeCache } from '../../memory/index.ts';
import type { Placing } from './placing.ts';
import type { MemoryStore } from './store.ts';
import type { VectorStore } from './vector-store.ts';

/** What forgetting removes from. */
export interface ForgettingParts {
  readonly memories: MemoryStore;
  readonly vectorStore: VectorStore;
  readonly cache: CodeCache;
  readonly placing: Placing;
}

const JOB = 'agent_memories.forget';
const A_STEP = 32;

/** Removes what an agent alone has known, when the agent is gone: step by step, and to the end after a crash too. */
export class Forgetting {
  constructor(
    private readonly app: Pick<App, 'db' | 'jobs'>,
    private readonly parts: ForgettingParts,
  ) {
    app.jobs.handle(JOB, ({ agentId }, { tenant }) => this.forget(tenant ?? '', String(agentId)));
  }

  /** Notes it, in the caller's transaction. */
  note(tenant: string, agentId: string): void {
    this.app.jobs.add({ kind: JOB, tenant, payload: { agentId } });
  }

  private async forget(tenant: string, agentId: string): Promise<void> {
    const { memories, placing, vectorStore, cache } = this.parts;
    const shelf = memories.findShelf(tenant, { scope: 'agent', owner: agentId });
    if (shelf === undefined) return;
    for (let left = A_STEP; left === A_STEP; await Bun.sleep(1))
      left = this.app.db.transaction(() => {
        const rows = memories.ofShelf(tenant, shelf, A_STEP);
        for (const row of rows) placing.remove(tenant, row);
        return rows.length;
      });
    const spaces = this.app.db.transaction(() => vectorStore.dropSpaces(shelf));
    for (const space of spaces) cache.forget(space);
  }
}
