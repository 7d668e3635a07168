import type { OpenBox } from './boxes.ts';
import { hasStatus } from './engine.ts';
import { signalMarked } from './kill.ts';
import type { MarkRange } from './marks.ts';
import type { DriverLog } from './options.ts';

/**
 * A command that belongs to its caller ends with the daemon, but the engine lets it run on. So the next
 * daemon ends what an earlier one left, in each box before it first does something there.
 */
export class Takeover {
  private readonly done = new Map<string, Promise<void>>();

  constructor(
    private readonly all: MarkRange,
    private readonly ours: MarkRange,
    private readonly log: DriverLog,
  ) {}

  /** Nothing is left of an earlier daemon in a box that this one started. */
  isDone(id: string): void {
    this.done.set(id, Promise.resolve());
  }

  forget(id: string): void {
    this.done.delete(id);
  }

  /** Ends what an earlier daemon left in the box; once. */
  of(box: OpenBox): Promise<void> {
    const known = this.done.get(box.id);
    if (known) return known;
    const sweep = this.sweep(box);
    this.done.set(box.id, sweep);
    return sweep;
  }

  private async sweep({ id, container }: OpenBox): Promise<void> {
    try {
      await signalMarked(container, this.all, 'SIGKILL', this.ours);
    } catch (error) {
      this.done.delete(id);
      if (hasStatus(error, 404) || hasStatus(error, 409)) return;
      this.log('warn', 'commands of an earlier run may be left in a box', {
        sandboxId: id,
        error: String(error),
      });
    }
  }
}
