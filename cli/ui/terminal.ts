import { makeStyle, type Style, wantsColor } from './color.ts';

/** One of the two ways out of the program. */
export interface OutputStream {
  readonly isTty: boolean;
  /** Columns of the terminal; 80 when it is none. */
  readonly columns: number;
  readonly style: Style;
  /** Writes; false means: wait for `drained` before writing much more. */
  write(data: string | Uint8Array): boolean;
  drained(): Promise<void>;
  /** Resolves when all that was written has left the program. */
  flush(): Promise<void>;
}

/** Where a command writes: data to `out`, everything else to `err`. */
export interface Terminal {
  readonly out: OutputStream;
  readonly err: OutputStream;
  /** A line of data. */
  print(line: string): void;
  /** A line for the person who looks on. */
  note(line: string): void;
}

/** As of a program that SIGPIPE ended: its reader left (`| head`). */
const READER_LEFT = 141;

type Env = Readonly<Record<string, string | undefined>>;

/** The terminal of this process. It ends quietly when its reader leaves. */
export function processTerminal(env: Env): Terminal {
  const out = new FileStream(Bun.stdout.writer(), process.stdout, env);
  const err = new FileStream(Bun.stderr.writer(), process.stderr, env);
  return {
    out,
    err,
    print: (line) => void out.write(`${line}\n`),
    note: (line) => void err.write(`${line}\n`),
  };
}

/**
 * A file of this process. It writes through Bun's own sink, which says when a slow reader must be waited
 * for; process.stdout takes everything at once and loses what is left when the process ends.
 */
class FileStream implements OutputStream {
  readonly isTty: boolean;
  readonly style: Style;
  private waiting: Promise<unknown> | undefined;

  constructor(
    private readonly sink: Bun.FileSink,
    private readonly stream: NodeJS.WriteStream,
    env: Env,
  ) {
    this.isTty = stream.isTTY === true;
    this.style = makeStyle(wantsColor(env, this.isTty));
  }

  get columns(): number {
    return this.stream.columns ?? 80;
  }

  write(data: string | Uint8Array): boolean {
    this.waitFor(this.sink.write(data));
    this.waitFor(this.sink.flush());
    return this.waiting === undefined;
  }

  async drained(): Promise<void> {
    while (this.waiting) await this.waiting;
  }

  async flush(): Promise<void> {
    this.waitFor(this.sink.flush());
    await this.drained();
  }

  private waitFor(result: number | Promise<number>): void {
    if (typeof result === 'number') return;
    const waiting: Promise<unknown> = Promise.all([this.waiting, result.catch(leave)]).then(() => {
      if (this.waiting === waiting) this.waiting = undefined;
    });
    this.waiting = waiting;
  }
}

function leave(error: unknown): never {
  const isGone = error instanceof Error && 'code' in error && error.code === 'EPIPE';
  process.exit(isGone ? READER_LEFT : 1);
}
