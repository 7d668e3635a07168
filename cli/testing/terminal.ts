import { makeStyle } from '../ui/color.ts';
import type { OutputStream, Terminal } from '../ui/terminal.ts';

/** A stream that keeps what was written to it. */
export interface RecordedStream extends OutputStream {
  text(): string;
}

/** A terminal that keeps what was written, for tests. */
export interface RecordedTerminal extends Terminal {
  readonly out: RecordedStream;
  readonly err: RecordedStream;
}

/** Makes a terminal that keeps what was written; without colours, so that tests read plain text. */
export function recordedTerminal(isTty = false, columns = 80): RecordedTerminal {
  const out = recordedStream(isTty, columns);
  const err = recordedStream(isTty, columns);
  return {
    out,
    err,
    print: (line) => void out.write(`${line}\n`),
    note: (line) => void err.write(`${line}\n`),
  };
}

function recordedStream(isTty: boolean, columns: number): RecordedStream {
  const written: Uint8Array[] = [];
  return {
    isTty,
    columns,
    style: makeStyle(false),
    write(data) {
      written.push(typeof data === 'string' ? new TextEncoder().encode(data) : data.slice());
      return true;
    },
    drained: async () => undefined,
    flush: async () => undefined,
    text: () => Buffer.concat(written).toString('utf8'),
  };
}
