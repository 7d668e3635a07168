import { SILENCE_MS } from '../upstream/open.ts';

/** What ends an attempt. Silence ends it anyway after a while, and by then no clock of its own is needed. */
export function deadlineOf(caller: AbortSignal, ms: number): { readonly signal: AbortSignal; stop(): void } {
  return ms >= SILENCE_MS ? { signal: caller, stop() {} } : new Deadline(caller, ms);
}

/** Ends an attempt that does not come to its first content in time; after that only the caller's leaving does. */
class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: Timer;
  private readonly leave = () => this.controller.abort(this.caller.reason);

  constructor(
    private readonly caller: AbortSignal,
    ms: number,
  ) {
    this.timer = setTimeout(
      () => this.controller.abort(new DOMException('no content in time', 'TimeoutError')),
      ms,
    );
    if (caller.aborted) this.leave();
    else caller.addEventListener('abort', this.leave, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The time is over or was not needed. The caller's leaving still reaches the answer that is being read. */
  stop(): void {
    clearTimeout(this.timer);
  }
}
