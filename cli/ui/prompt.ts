import { fail, invalid } from '../../src/errors/app-error.ts';
import type { Terminal } from './terminal.ts';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
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
  terminal.err.write(`${question}: `);
  process.stdin.setRawMode(true);
  try {
    return await new Promise<string>((resolve, reject) => {
      let line = '';
      const onData = (data: Buffer) => {
        for (const key of data.toString('utf8')) {
          if (key === '\r' || key === '\n') return finish(() => resolve(line));
          if (key === CTRL_C || (key === CTRL_D && line === ''))
            return finish(() => reject(fail('cancelled')));
          line = take(line, key);
          if (echo) terminal.err.write(`\r\x1b[K${question}: ${line}`);
        }
      };
      const finish = (done: () => void) => {
        process.stdin.off('data', onData);
        done();
      };
      process.stdin.on('data', onData);
    });
  } finally {
    process.stdin.setRawMode(false);
    process.stdin.pause();
    terminal.err.write('\n');
  }
}

function take(line: string, key: string): string {
  if (BACKSPACE.has(key)) return [...line].slice(0, -1).join('');
  return key < ' ' ? line : line + key;
}
