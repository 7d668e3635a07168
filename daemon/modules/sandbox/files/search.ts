import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { Exit, SandboxDriver } from '../drivers/driver.ts';

/** A line that has the pattern. */
export interface Match {
  readonly file: string;
  readonly line: number;
  readonly content: string;
}

/** What a search found, and whether there is more. */
export interface Matches {
  readonly matches: readonly Match[];
  readonly isCut: boolean;
}

const DEADLINE_MS = 30 * SECOND_MS;
const MAX_MATCHES = 1_000;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_LINE = 2_000;
const MAX_WORDS = 2_000;
const NO_PROGRAM = 127;
const TROUBLE = 2;

/** Files that are looked into, where it is not all of them. */
export interface Narrowing {
  /** A glob of their names. */
  readonly names?: string;
  /** Names of directories that are not gone into. */
  readonly skip: readonly string[];
}

/** A program that searches. */
interface Program {
  readonly argv: readonly [string, ...string[]];
  /** A NUL ends the name of a file where the program can do that. */
  readonly end: '\0' | ':';
  /** The words that narrow it; a program that cannot finds more. */
  readonly narrowed?: (narrowing: Narrowing) => readonly string[];
}

/** The programs that search, best first. */
const PROGRAMS: readonly Program[] = [
  {
    argv: ['grep', '-rnHIZsE', '-D', 'skip'],
    end: '\0',
    narrowed: ({ names, skip }) => [
      ...(names === undefined ? [] : [`--include=${names}`]),
      ...skip.map((name) => `--exclude-dir=${name}`),
    ],
  },
  { argv: ['grep', '-rnHsE'], end: ':' },
  {
    argv: ['rg', '--no-config', '-nH0', '--no-heading', '--no-messages', '-uu', '--color=never'],
    end: '\0',
    narrowed: ({ names, skip }) => [
      ...(names === undefined ? [] : [`--glob=${names}`]),
      ...skip.map((name) => `--glob=!**/${name}/**`),
    ],
  },
];

/**
 * Searches the lines of files at or below a path by a program of the sandbox: grep with extended regular expressions, else ripgrep.
 * The pattern is never looked at outside. Errors: invalid_argument naming the pattern, not_configured when
 * the sandbox has neither program, failed_precondition when it takes longer than 30 s.
 */
export async function searchContents(
  driver: SandboxDriver,
  boxId: string,
  { pattern, path, narrow }: { readonly pattern: string; readonly path: string; readonly narrow?: Narrowing },
  signal: AbortSignal,
): Promise<Matches> {
  for (const { argv, end, narrowed } of PROGRAMS) {
    const search = new Search(end);
    const words = narrow ? (narrowed?.(narrow) ?? []) : [];
    const exit = await search.run(driver, boxId, [...argv, ...words, '-e', pattern, '--', path], signal);
    if (exit.code === NO_PROGRAM || search.isUnknownOption) continue;
    if (exit.code >= TROUBLE && !search.isCut && search.words !== '')
      throw invalid({ field: 'pattern', description: search.words });
    return { matches: search.matches, isCut: search.isCut };
  }
  throw fail('not_configured', {
    message: 'The sandbox has neither grep nor ripgrep (rg). Use an image that has one to search contents.',
  });
}

class Search {
  readonly matches: Match[] = [];
  isCut = false;
  words = '';
  private rest: Buffer = Buffer.alloc(0);
  private read = 0;

  constructor(private readonly end: '\0' | ':') {}

  get isUnknownOption(): boolean {
    return /(unrecognized|invalid|unknown) option/i.test(this.words);
  }

  async run(
    driver: SandboxDriver,
    boxId: string,
    argv: readonly [string, ...string[]] | readonly string[],
    signal: AbortSignal,
  ): Promise<Exit> {
    const [program = '', ...words] = argv;
    const spec = { id: newId('cmd'), argv: [program, ...words] as [string, ...string[]], cwd: '/' };
    const execution = await driver.exec(boxId, { ...spec, env: { LC_ALL: 'C.UTF-8' } });
    let isLate = false;
    const kill = () => void execution.kill('SIGKILL').catch(() => undefined);
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, DEADLINE_MS);
    signal.addEventListener('abort', kill);
    try {
      for await (const { channel, bytes } of execution.output) {
        if (channel === 'stderr') this.complain(bytes);
        else if (!this.take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))) break;
      }
      if (this.isCut) kill();
      const exit = await execution.exited;
      if (isLate)
        throw fail('failed_precondition', { message: 'The search took longer than 30 s. Narrow the path.' });
      return exit;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
    }
  }

  private complain(bytes: Uint8Array): void {
    if (this.words.length < MAX_WORDS)
      this.words = `${this.words}${new TextDecoder().decode(bytes)}`.slice(0, MAX_WORDS).trim();
  }

  /** Takes output; false when that is enough. */
  private take(bytes: Buffer): boolean {
    this.read += bytes.length;
    let text = Buffer.concat([this.rest, bytes]);
    for (;;) {
      const at = this.lineEnd(text);
      if (at < 0) break;
      this.add(text.subarray(0, at));
      text = text.subarray(at + 1);
      if (this.matches.length >= MAX_MATCHES) this.isCut = true;
      if (this.isCut) return false;
    }
    this.rest = Buffer.from(text);
    this.isCut = this.read > MAX_BYTES;
    return !this.isCut;
  }

  /** Where the next match ends; the name before its NUL may have line ends of its own. */
  private lineEnd(text: Buffer): number {
    if (this.end === ':') return text.indexOf(0x0a);
    const name = text.indexOf(0);
    return name < 0 ? -1 : text.indexOf(0x0a, name);
  }

  private add(bytes: Buffer): void {
    const text = bytes.toString('utf8');
    const parts = this.end === '\0' ? /^([^\0]*)\0(\d+):(.*)$/s.exec(text) : /^(.*?):(\d+):(.*)$/s.exec(text);
    const [, file = '', line = '', content = ''] = parts ?? [];
    if (parts)
      this.matches.push({
        file,
        line: Math.min(Number(line), 2 ** 31 - 1),
        content: content.slice(0, MAX_LINE),
      });
  }
}
