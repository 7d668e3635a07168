import type { AnswerStore, Holdings, KeptAnswer } from './answer.ts';
import type { DiskAnswers } from './disk-store.ts';
import type { MemoryAnswers } from './memory.ts';
import type { RequestKey } from './request-key.ts';

/** Answers of this instance: in memory, and behind it in a file, when there is one. */
export class LocalAnswers implements AnswerStore {
  constructor(
    private readonly memory: MemoryAnswers,
    private readonly disk: () => DiskAnswers | undefined,
  ) {}

  find(tenant: string, key: RequestKey): KeptAnswer | undefined {
    const near = this.memory.find(tenant, key);
    if (near) return near;
    const far = this.disk()?.find(tenant, key);
    if (far) this.memory.keep(tenant, key, far);
    return far;
  }

  keep(tenant: string, key: RequestKey, answer: KeptAnswer): void {
    this.memory.keep(tenant, key, answer);
    this.disk()?.keep(tenant, key, answer);
  }

  clear(tenant: string): number {
    const stored = this.disk()?.clear(tenant) ?? 0;
    return Math.max(this.memory.clear(tenant), stored);
  }

  holdings(tenant: string): Holdings {
    return this.memory.holdings(tenant);
  }
}
