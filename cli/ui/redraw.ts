import type { OutputStream } from './terminal.ts';

/** Lines that replace those drawn before, on a terminal. */
export class Redraw {
  private drawn = 0;

  constructor(private readonly out: OutputStream) {}

  show(lines: readonly string[]): void {
    const up = this.drawn > 0 ? `\x1b[${this.drawn}A` : '';
    this.out.write(`${up}${lines.map((line) => `\r\x1b[2K${line}\n`).join('')}\x1b[J`);
    this.drawn = lines.length;
  }
}
