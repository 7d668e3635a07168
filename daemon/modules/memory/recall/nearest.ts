/** Something with a figure that says how near it is. */
export interface Ranked {
  readonly seq: number;
  readonly document: number;
  readonly nearness: number;
}

/** Keeps the nearest of many: a heap whose first is the farthest of those that are kept. */
export class Nearest {
  private readonly heap: Ranked[] = [];

  constructor(private readonly most: number) {}

  /** What a newcomer has to exceed. */
  get bar(): number {
    return this.heap.length < this.most ? Number.NEGATIVE_INFINITY : (this.heap[0]?.nearness ?? 0);
  }

  add(one: Ranked): void {
    const { heap } = this;
    if (heap.length < this.most) {
      heap.push(one);
      this.rise(heap.length - 1);
    } else if (one.nearness > this.bar) {
      heap[0] = one;
      this.sink(0);
    }
  }

  /** What was kept, nearest first. */
  sorted(): Ranked[] {
    return [...this.heap].sort((a, b) => b.nearness - a.nearness || a.seq - b.seq);
  }

  private rise(start: number): void {
    for (let at = start; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (this.of(parent) <= this.of(at)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  private sink(start: number): void {
    for (let at = start; ; ) {
      const left = 2 * at + 1;
      const child = this.of(left + 1) < this.of(left) ? left + 1 : left;
      if (this.of(child) >= this.of(at)) return;
      this.swap(at, child);
      at = child;
    }
  }

  private of(at: number): number {
    return this.heap[at]?.nearness ?? Number.POSITIVE_INFINITY;
  }

  private swap(a: number, b: number): void {
    const [one, other] = [this.heap[a], this.heap[b]];
    if (!one || !other) return;
    this.heap[a] = other;
    this.heap[b] = one;
  }
}
