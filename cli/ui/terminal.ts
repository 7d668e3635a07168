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

/** The terminal of this process. A reader that leaves (`| head`) ends the program quietly. */
export function processTerminal(env: Readonly<Record<string, string | undefined>>): Terminal {
  const out = streamOf(process.stdout, env);
  const err = streamOf(process.stderr, env);
  return {
    out,
    err,
    print: (line) => void out.write(`${line}\n`),
    note: (line) => void err.write(`${line}\n`),
  };
}

function streamOf(
  stream: NodeJS.WriteStream,
  env: Readonly<Record<string, string | undefined>>,
): OutputStream {
  const isTty = stream.isTTY === true;
  stream.on('error', (error: Error & { code?: string }) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  return {
    isTty,
    get columns() {
      return stream.columns ?? 80;
    },
    style: makeStyle(wantsColor(env, isTty)),
    write: (data) => stream.write(data),
    drained: () =>
      new Promise((resolve) => {
        if (stream.writableNeedDrain) stream.once('drain', () => resolve());
        else resolve();
      }),
    flush: () => new Promise((resolve) => stream.write('', () => resolve())),
  };
}
