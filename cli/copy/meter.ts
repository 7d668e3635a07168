import { formatBytes } from '../../src/kit/bytes.ts';
import type { Terminal } from '../ui/terminal.ts';

const DRAW_MS = 100;
const BAR = 24;

/** Shows on stderr how much was copied; without a terminal it shows nothing. */
export class Meter {
  private done = 0;
  private readonly start = performance.now();
  private drawnAt = 0;

  /** @param total bytes, 0 when unknown */
  constructor(
    private readonly terminal: Terminal,
    private total: number,
  ) {}

  addTotal(bytes: number): void {
    this.total += bytes;
  }

  add(bytes: number): void {
    this.done += bytes;
    const now = performance.now();
    if (!this.terminal.err.isTty || now - this.drawnAt < DRAW_MS) return;
    this.drawnAt = now;
    this.terminal.err.write(`\r\x1b[K${this.line(now)}`);
  }

  /** Takes the bar away and says what was copied. */
  end(what: string): void {
    if (!this.terminal.err.isTty) return;
    const seconds = (performance.now() - this.start) / 1000;
    const rate = formatBytes(Math.round(this.done / Math.max(seconds, 0.001)));
    this.terminal.err.write(
      `\r\x1b[K${what}: ${formatBytes(this.done)} in ${seconds.toFixed(1)} s (${rate}/s)\n`,
    );
  }

  /** Bytes as they pass. */
  async *watch(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const part of bytes) {
      this.add(part.length);
      yield part;
    }
  }

  private line(now: number): string {
    const rate = formatBytes(Math.round(this.done / ((now - this.start) / 1000)));
    if (this.total === 0) return `${formatBytes(this.done)}  ${rate}/s`;
    const filled = Math.min(BAR, Math.floor((this.done / this.total) * BAR));
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`;
    return `${bar} ${formatBytes(this.done)} of ${formatBytes(this.total)}  ${rate}/s`;
  }
}
