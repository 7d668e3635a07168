import { formatDuration } from '../../../src/kit/duration.ts';
import { oneLine, printable } from '../../ui/table.ts';
import { unmasked } from '../review/shown.ts';

/** Arguments that say alone what a call is about, the first that there is. */
const TELLING = ['command', 'code', 'url', 'question', 'query', 'pattern', 'path', 'jobId'];
/** Tools whose results are the ends of commands. */
const COMMANDS = new Set(['sandbox_shell', 'sandbox_execute', 'sandbox_git_clone']);
const MOST_CHARACTERS = 2_000;

/** Text of a model or a tool on one line, with nothing in it that could steer a terminal or hide. */
export function harmless(text: string): string {
  return oneLine(printable(unmasked(text.slice(0, MOST_CHARACTERS)))).trim();
}

/** What a call is about, from its arguments (JSON text), on one line. */
export function argsText(name: string, args: string): string {
  const values = parsed(args);
  if (!values) return harmless(args);
  if (name === 'spawn_agent' || name === 'delegate_job') return harmless(`${values.agent}: ${values.task}`);
  const telling = TELLING.find((key) => typeof values[key] === 'string' && values[key] !== '');
  if (telling) return harmless(String(values[telling]));
  return harmless(
    Object.entries(values)
      .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(' '),
  );
}

/** A result on one line: its first words, and how much more there is. */
export function resultText(result: string): string {
  const lines = result.split('\n').filter((line) => line.trim() !== '');
  const [first = ''] = lines;
  const more = lines.length - 1;
  return more < 1 ? harmless(first) : `${harmless(first)} (+${more} ${more === 1 ? 'line' : 'lines'})`;
}

/** What is known of a call. */
export interface KnownCall {
  readonly name: string;
  readonly args: string;
  readonly ok?: boolean;
  readonly result?: string;
  readonly durationMs?: number;
}

/** A call that is over, on one line of at most so many columns: the arguments give way first. */
export function callLine(call: KnownCall, columns: number): string {
  const { name, args, ok, result = '', durationMs } = call;
  const mark = ok === undefined ? '·' : ok ? '✓' : '✗';
  const time = durationMs === undefined ? '' : formatDuration(durationMs);
  const facts = [time, ...(COMMANDS.has(name) ? commandFacts(result) : [resultText(result)])];
  const head = `${mark} ${harmless(name)}`;
  const tail = facts
    .filter((fact) => fact !== '')
    .map((fact) => ` · ${fact}`)
    .join('');
  const room = Math.max(columns - width(head) - 1, 0);
  const most = Math.max(Math.floor(room / 3), room - width(tail));
  const shownArgs = argsText(name, args);
  const about = shownArgs === '' ? '' : ` ${cut(shownArgs, Math.max(most - 1, 8))}`;
  return cut(`${head}${about}${tail}`, columns);
}

/** A line, cut at a width. */
export function cut(line: string, columns: number): string {
  return Bun.sliceAnsi(line, 0, columns, '…');
}

const width = (text: string) => Bun.stringWidth(text);

/** How a command has ended, which stands in the first line of its result that says so, and what it has printed. */
function commandFacts(result: string): string[] {
  const end = /^exit code (-?\d+)(?: \((.*)\))? after .*$/m.exec(result);
  if (!end) return [resultText(result)];
  const [line, code, why = ''] = end;
  return [`exit ${code}`, harmless(why), resultText(result.replace(line, ''))];
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
