import type { Clock } from '../../../../src/kit/time.ts';
import { type AnswerStore, type Holdings, type KeptAnswer, sizeOf } from './answer.ts';
import type { RequestKey } from './request-key.ts';

/** How much may be in memory. */
export interface MemoryLimits {
  /** Most answers of a tenant. */
  entries(tenant: string): number;
  /** Most bytes of all tenants together. */
  bytes(): number;
}

interface Entry {
  readonly proof: string;
  readonly answer: KeptAnswer;
}

/** The answers of one tenant, the least recently used first. */
class Shelf {
  readonly entries = new Map<string, Entry>();
  bytes = 0;

  get(place: string): Entry | undefined {
    return this.entries.get(place);
  }

  set(place: string, entry: Entry): void {
    this.delete(place);
    this.entries.set(place, entry);
    this.bytes += sizeOf(entry.answer);
  }

  /** It is the last one to go now. */
  touch(place: string, entry: Entry): void {
    this.entries.delete(place);
    this.entries.set(place, entry);
  }

  delete(place: string): void {
    const entry = this.entries.get(place);
    if (!entry) return;
    this.entries.delete(place);
    this.bytes -= sizeOf(entry.answer);
  }

  deleteOldest(): void {
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.delete(oldest);
  }
}

/** Answers in memory. When it is full, the tenant that holds the most gives up what it has not used for longest. */
export class MemoryAnswers implements AnswerStore {
  private readonly shelves = new Map<string, Shelf>();
  private total = 0;

  constructor(
    private readonly limits: MemoryLimits,
    private readonly clock: Clock,
  ) {}

  find(tenant: string, { place, proof }: RequestKey): KeptAnswer | undefined {
    const shelf = this.shelves.get(tenant);
    const entry = shelf?.get(place);
    if (!shelf || !entry || entry.proof !== proof) return undefined;
    if (entry.answer.expiresAt <= this.clock.now()) {
      this.change(tenant, shelf, () => shelf.delete(place));
      return undefined;
    }
    shelf.touch(place, entry);
    return entry.answer;
  }

  keep(tenant: string, { place, proof }: RequestKey, answer: KeptAnswer): void {
    if (sizeOf(answer) > this.limits.bytes()) return;
    const shelf = this.shelves.get(tenant) ?? new Shelf();
    this.shelves.set(tenant, shelf);
    this.change(tenant, shelf, () => shelf.set(place, { proof, answer }));
    const most = this.limits.entries(tenant);
    while (shelf.entries.size > most) this.change(tenant, shelf, () => shelf.deleteOldest());
    while (this.total > this.limits.bytes()) this.makeRoom();
  }

  clear(tenant: string): number {
    const shelf = this.shelves.get(tenant);
    if (!shelf) return 0;
    this.total -= shelf.bytes;
    this.shelves.delete(tenant);
    return shelf.entries.size;
  }

  holdings(tenant: string): Holdings {
    const shelf = this.shelves.get(tenant);
    return { entries: shelf?.entries.size ?? 0, bytes: shelf?.bytes ?? 0 };
  }

  private makeRoom(): void {
    const [[tenant, shelf] = []] = [[...this.shelves].reduce((a, b) => (b[1].bytes > a[1].bytes ? b : a))];
    if (tenant !== undefined && shelf) this.change(tenant, shelf, () => shelf.deleteOldest());
  }

  private change(tenant: string, shelf: Shelf, work: () => void): void {
    const before = shelf.bytes;
    work();
    this.total += shelf.bytes - before;
    if (shelf.entries.size === 0) this.shelves.delete(tenant);
  }
}
