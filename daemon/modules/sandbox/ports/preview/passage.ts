/** One visit that is under way: how to end it, whatever it has become. */
export class Passage {
  isOver = false;
  private ending: (() => void) | undefined;

  /** What ends it from now on; called at once when it is over already. */
  endWith(ending: () => void): void {
    this.ending = ending;
    if (this.isOver) ending();
  }

  /** Ends it: the visitor left, or may not be here any more. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.ending?.();
  }
}
