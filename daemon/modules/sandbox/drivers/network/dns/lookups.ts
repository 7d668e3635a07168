import type { Lookup } from '../../driver.ts';

const KEPT = 200;

/** The latest names that boxes looked up, a bounded number of each box. */
export class Lookups {
  private readonly boxes = new Map<string, Lookup[]>();

  add(id: string, lookup: Lookup): void {
    const kept = this.boxes.get(id) ?? [];
    if (kept.length === KEPT) kept.shift();
    kept.push(lookup);
    this.boxes.set(id, kept);
  }

  /** Newest first. */
  list(id: string): readonly Lookup[] {
    return (this.boxes.get(id) ?? []).toReversed();
  }

  forget(id: string): void {
    this.boxes.delete(id);
  }
}
