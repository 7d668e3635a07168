import { closeSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { shownWords } from './words.ts';

const MOST_BYTES = 256 * 1024;
const MOST_AT_ONCE = 64 * 1024;
const MOST_LINES = 20;

/** The log of a program, which goes on writing to it when no daemon is there: read piece by piece and kept small. */
export class Spoken {
  private at = 0;

  /** @param secrets what is never shown */
  constructor(
    private readonly path: string,
    private readonly secrets: readonly string[],
  ) {}

  /** Takes everything up to now as known. */
  skip(): void {
    this.at = this.size();
  }

  /** The last lines that are new. A log that has grown large is emptied. */
  news(): string[] {
    const size = this.size();
    if (size === this.at) return [];
    const from = Math.max(this.at, size - MOST_AT_ONCE);
    const lines = shownWords(this.read(from, size - from), this.secrets).slice(-MOST_LINES);
    this.at = size;
    if (size > MOST_BYTES) {
      truncateSync(this.path);
      this.at = 0;
    }
    return lines;
  }

  private size(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  private read(from: number, length: number): string {
    const bytes = Buffer.alloc(Math.max(length, 0));
    const fd = openSync(this.path, 'r');
    try {
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, from));
    } finally {
      closeSync(fd);
    }
  }
}
