import { fail } from '../../src/errors/app-error.ts';
import { shellLine } from '../quote.ts';
import type { Finding } from './load.ts';

type Manager = 'apt' | 'dnf' | 'apk';

const PROGRAM: Record<Manager, string> = { apt: 'apt-get', dnf: 'dnf', apk: 'apk' };

/** Command lines that bring packages, in order. */
const COMMANDS: Record<Manager, (packages: readonly string[]) => string[][]> = {
  apt: (packages) => [
    ['apt-get', 'update'],
    ['apt-get', 'install', '-y', '--no-install-recommends', ...packages],
  ],
  dnf: (packages) => [['dnf', 'install', '-y', ...packages]],
  apk: (packages) => [['apk', 'add', ...packages]],
};

/** The host as far as installing goes. */
export interface PackageHost {
  readonly isRoot: boolean;
  /** Whether a program is on the path. */
  has(program: string): boolean;
}

/** This host. */
export const thisHost: PackageHost = {
  isRoot: process.getuid?.() === 0,
  has: (program) => Bun.which(program) !== null,
};

/**
 * The commands that bring what the findings lack, packages first; none when nothing can be done.
 * Errors: failed_precondition when this person may not run them.
 */
export function fixCommands(findings: readonly Finding[], host: PackageHost = thisHost): string[][] {
  const wanted = findings.filter(({ status }) => status !== 'ok');
  const mending = wanted.flatMap((finding) => finding.commands ?? []).map((command) => [...command]);
  const commands = [...packageCommands(wanted, host), ...mending];
  if (commands.length === 0 || host.isRoot) return commands;
  if (host.has('sudo')) return commands.map((command) => ['sudo', ...command]);
  const lines = commands.map(shellLine).join(' && ');
  throw fail('failed_precondition', { message: `Something is missing and only root can mend it: ${lines}` });
}

function packageCommands(wanted: readonly Finding[], host: PackageHost): string[][] {
  const manager = (Object.keys(PROGRAM) as Manager[]).find((name) => host.has(PROGRAM[name]));
  if (!manager) return [];
  const packages = [...new Set(wanted.flatMap((finding) => finding.packages?.[manager] ?? []))];
  return packages.length === 0 ? [] : COMMANDS[manager](packages);
}

/** Runs one of them; its output goes line by line to `show`. Errors: failed_precondition with its last lines. */
export async function runFix(command: readonly string[], show: (line: string) => void): Promise<void> {
  const child = Bun.spawn([...command], {
    stdin: 'inherit',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  const last: string[] = [];
  const follow = async (stream: ReadableStream<Uint8Array>) => {
    for await (const line of linesOf(stream)) {
      last.push(line);
      last.splice(0, last.length - 5);
      show(line);
    }
  };
  await Promise.all([follow(child.stdout), follow(child.stderr)]);
  const code = await child.exited;
  if (code !== 0) {
    const message = `${shellLine(command)} ended with ${code}: ${last.join(' | ')}`;
    throw fail('failed_precondition', { message });
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.map(lastState).filter((line) => line !== '');
  }
  if (rest) yield lastState(rest);
}

/** What a line that was written over and over (a progress in per cent) shows in the end. */
function lastState(line: string): string {
  return line.replace(/\r$/, '').split('\r').at(-1) ?? '';
}
