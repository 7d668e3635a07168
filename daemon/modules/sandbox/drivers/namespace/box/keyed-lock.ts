/** Lets one task at a time work on a thing; the others wait in the order in which they came. */
export class KeyedLock {
  private readonly tails = new Map<string, Promise<unknown>>();

  /** Runs the task when those before it on the same key are over, however they ended. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.tails.get(key) ?? Promise.resolve();
    const mine = before.then(task, task);
    const tail = mine.catch(() => {});
    this.tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (this.tails.get(key) === tail) this.tails.delete(key);
    }
  }
}
