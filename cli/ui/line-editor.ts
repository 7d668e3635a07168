import { createInterface, type Interface } from 'node:readline';
import { Transform, Writable } from 'node:stream';
import type { OutputStream } from './terminal.ts';

const HISTORY = 500;
const ESCAPE_WAIT_MS = 50;
/** Stands for a line end inside a line that was pasted: it comes in text by no other way (private use). */
const PASTED_LINE_END = '\ue00a';
const PASTE_ON = '\x1b[?2004h';
const PASTE_OFF = '\x1b[?2004l';

/** Hears what is typed. */
export interface EditorEvents {
  /** A line is whole: pasted line ends are in it. */
  line(text: string): void;
  /** The line or the cursor in it has changed. */
  change(): void;
  interrupt(): void;
  /** Ctrl-D in an empty line, or the terminal is gone. */
  end(): void;
  /** What a key sends, before it changes the line; true takes it away. */
  key?(sent: string): boolean;
  /** How a line may go on, for the Tab key. */
  complete?(line: string): [string[], string];
}

/**
 * A line that is typed, with history and the keys of readline, drawn by somebody else: `text` and `cursor` say how it stands.
 * What is pasted is one line, however many it has (bracketed paste).
 */
export class LineEditor {
  private readonly reader: Interface;
  private readonly input = new TypedText((key) => this.events.key?.(key) === true);
  private isClosed = false;

  constructor(
    private readonly out: OutputStream,
    private readonly events: EditorEvents,
  ) {
    process.stdin.setRawMode(true);
    out.write(PASTE_ON);
    this.reader = createInterface({
      input: process.stdin.pipe(this.input),
      output: new Silent(),
      terminal: true,
      historySize: HISTORY,
      escapeCodeTimeout: ESCAPE_WAIT_MS,
      completer: (line: string) => events.complete?.(line) ?? [[], line],
    });
    this.reader.on('line', (line) => events.line(line.replaceAll(PASTED_LINE_END, '\n')));
    this.reader.on('SIGINT', () => events.interrupt());
    this.reader.on('close', () => {
      if (!this.isClosed) events.end();
    });
    this.reader.on('SIGTSTP', () => undefined);
    this.input.on('keypress', () => events.change());
  }

  /** What is typed, in one line. */
  get text(): string {
    return this.reader.line.replaceAll(PASTED_LINE_END, '⏎');
  }

  get cursor(): number {
    return this.reader.cursor;
  }

  /** Drops what is typed. */
  drop(): void {
    this.reader.write(null, { ctrl: true, name: 'e' });
    this.reader.write(null, { ctrl: true, name: 'u' });
  }

  /** The terminal is as it was before. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.reader.close();
    process.stdin.unpipe(this.input);
    this.out.write(PASTE_OFF);
    process.stdin.setRawMode(false);
    process.stdin.pause();
  }
}

/** The output of readline, which is drawn elsewhere. */
class Silent extends Writable {
  /** Wide enough that readline never scrolls. */
  readonly columns = 10_000;

  override _write(_chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
}

/** What is typed: without the marks of pasted text, whose line ends do not end the line, and without keys that are taken. */
export class TypedText extends Transform {
  private isPasted = false;
  private held = '';
  private readonly decoder = new TextDecoder();

  constructor(private readonly takes: (key: string) => boolean) {
    super();
  }

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error: null, data: string) => void,
  ): void {
    const typed = this.decoder.decode(chunk, { stream: true });
    const text = this.held + (this.takes(typed) ? '' : typed);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the marks begin with one
    const cut = /\x1b\[(?:2(?:0[01]?)?)?$/.exec(text);
    this.held = cut?.[0] ?? '';
    let shown = '';
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the marks begin with one
    for (const part of text.slice(0, cut?.index).split(/(\x1b\[20[01]~)/)) {
      if (part === '\x1b[200~') this.isPasted = true;
      else if (part === '\x1b[201~') this.isPasted = false;
      else
        shown += this.isPasted ? part.replace(/\r\n|\r|\n/g, PASTED_LINE_END).replaceAll('\t', '  ') : part;
    }
    done(null, shown);
  }
}
