import { fail, invalid } from '../../src/errors/app-error.ts';
import type { Terminal } from './terminal.ts';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
/** First byte of what arrow and function keys send. */
const ESCAPE = 0x1b;
const BACKSPACE = new Set(['\x7f', '\b']);

/** Asks on stderr and reads one line. Errors: invalid_argument when no person is there to answer. */
export async function ask(terminal: Terminal, question: string): Promise<string> {
  return readLine(terminal, question, true);
}

/** As `ask`, without showing what is typed. */
export async function askSecret(terminal: Terminal, question: string): Promise<string> {
  return readLine(terminal, question, false);
}

/** All of stdin as text, without the last line end: for secrets that must not stand in the arguments. */
export async function readStdin(): Promise<string> {
  return (await Bun.stdin.text()).replace(/\r?\n$/, '');
}

async function readLine(terminal: Terminal, question: string, echo: boolean): Promise<string> {
  if (!process.stdin.isTTY) {
    throw invalid({ field: question.toLowerCase(), description: 'cannot be asked: stdin is not a terminal' });
  }
  const show = (line: string) => terminal.err.write(`\r\x1b[K${question}: ${line}`);
  show('');
  process.stdin.setRawMode(true);
  try {
    return await typedLine((line) => echo && show(line));
  } finally {
    process.stdin.setRawMode(false);
    terminal.err.write('\n');
  }
}

/** Reads keys up to Enter. Errors: cancelled at Ctrl-C. */
function typedLine(changed: (line: string) => void): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let line = '';
  const onData = (data: Buffer) => {
    if (data[0] === ESCAPE) return;
    const keys = [...data.toString('utf8')];
    for (const [at, key] of keys.entries()) {
      if (key === '\r' || key === '\n') {
        changed(line);
        stop(keys.slice(at + 1));
        resolve(line);
        return;
      }
      if (key === CTRL_C || (key === CTRL_D && line === '')) {
        stop([]);
        reject(fail('cancelled'));
        return;
      }
      line = take(line, key);
    }
    changed(line);
  };
  const stop = (rest: readonly string[]) => {
    process.stdin.off('data', onData);
    process.stdin.pause();
    // Two lines that were pasted at once answer two questions.
    if (rest.length > 0) process.stdin.unshift(Buffer.from(rest.join('')));
  };
  process.stdin.on('data', onData);
  process.stdin.resume();
  return promise;
}

function take(line: string, key: string): string {
  if (BACKSPACE.has(key)) return [...line].slice(0, -1).join('');
  return key < ' ' ? line : line + key;
}
