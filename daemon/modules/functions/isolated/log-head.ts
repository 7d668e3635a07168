const MOST_HEAD = 64 * 1024;
const MOST_TAIL = 2_000;
/** How long what was printed may come after the answer. */
const LATE_MS = 250;

/** What code printed during one call: the beginning of it, and the last of it for when that says why it ended. */
export class LogHead {
  private head = '';
  private tail = '';
  private dropped = 0;
  private isEnded = false;
  private readonly decoder = new TextDecoder();
  private readonly end = Promise.withResolvers<void>();

  /** `mark` ends what belongs to the call. */
  constructor(readonly mark: string) {}

  add(bytes: Uint8Array): void {
    if (this.isEnded) return;
    const seen = this.tail + this.decoder.decode(bytes, { stream: true });
    const fresh = seen.slice(this.tail.length);
    const at = seen.indexOf(this.mark);
    this.keep(fresh);
    this.tail = at === -1 ? seen.slice(-MOST_TAIL) : seen.slice(0, at).slice(-MOST_TAIL);
    if (at === -1) return;
    this.isEnded = true;
    this.end.resolve();
  }

  /** All that was printed, when it has come. */
  async text(): Promise<string> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, LATE_MS);
    await Promise.race([this.end.promise, late.promise]);
    clearTimeout(timer);
    return this.now();
  }

  /** What was printed until now. */
  now(): string {
    const at = this.head.indexOf(this.mark);
    const text = at === -1 ? this.head : this.head.slice(0, at);
    return this.dropped > 0 ? `${text}\n[${this.dropped} more characters]` : text;
  }

  /** The last lines. */
  last(): string {
    return this.tail.trim();
  }

  private keep(text: string): void {
    const room = MOST_HEAD - this.head.length;
    this.head += text.slice(0, Math.max(0, room));
    this.dropped += Math.max(0, text.length - room);
  }
}
