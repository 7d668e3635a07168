import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { SLASH } from './slash.ts';

const HISTORY = 500;

/** What a person types, line by line. What is typed while something else is shown is not echoed, and not lost. */
export class TypedLines {
  private readonly gate = new Gate();
  private readonly reader: Interface;

  constructor(onInterrupt: () => void) {
    this.reader = createInterface({
      input: process.stdin,
      output: this.gate,
      terminal: true,
      historySize: HISTORY,
      completer: (line: string) => SLASH.complete(line),
    });
    this.reader.on('SIGINT', onInterrupt);
  }

  /** The lines, until the end of input or `close`. */
  lines(): AsyncIterable<string> {
    return this.reader;
  }

  /** Nothing that is typed is shown until the next `prompt`. */
  hide(): void {
    this.gate.isShut = true;
  }

  /** Shows where to type, with what is typed already. */
  prompt(text: string): void {
    this.gate.isShut = false;
    this.reader.setPrompt(text);
    this.reader.prompt(true);
  }

  /** Whether the line is empty. */
  get isEmpty(): boolean {
    return this.reader.line === '';
  }

  /** Drops what was typed of the line. */
  drop(): void {
    this.reader.write(null, { ctrl: true, name: 'e' });
    this.reader.write(null, { ctrl: true, name: 'u' });
  }

  close(): void {
    this.reader.close();
  }
}

/** The terminal as the line editor sees it. */
class Gate extends Writable {
  isShut = false;

  get columns(): number {
    return process.stderr.columns ?? 80;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.isShut) process.stderr.write(chunk);
    done();
  }
}
