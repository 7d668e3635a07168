import { CommanderError } from 'commander';
import { RemoteError } from '../src/client/remote-error.ts';
import { AppError } from '../src/errors/app-error.ts';
import { EXIT } from '../src/errors/codes.ts';
import { printable } from './ui/table.ts';
import type { Terminal } from './ui/terminal.ts';

/** Says on stderr what went wrong, why, and what to do next; returns the exit code. */
export function reportFailure(
  error: unknown,
  terminal: Terminal,
  env: Readonly<Record<string, string | undefined>>,
): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const meant = error instanceof AppError || error instanceof RemoteError;
  const { style } = terminal.err;
  for (const line of meant ? linesOf(error) : [messageOf(error)]) terminal.note(line);
  if (env.SVC_DEBUG && error instanceof Error) terminal.note(style.dim(error.stack ?? ''));
  return meant ? error.exit : EXIT.error;

  function linesOf(known: AppError | RemoteError): string[] {
    if (known.exit === EXIT.interrupted) return [];
    const lines = [messageOf(known)];
    if (known.violations.length > 1) {
      lines.push(...known.violations.map(({ field, description }) => `  ${field}: ${description}`));
    }
    if (known.hint) lines.push(`${style.cyan('hint:')} ${printable(known.hint)}`);
    if (known instanceof RemoteError && known.http >= 500 && known.requestId) {
      lines.push(style.dim(`request id: ${known.requestId}`));
    }
    return lines;
  }

  function messageOf(unknown: unknown): string {
    const message = unknown instanceof Error ? unknown.message : String(unknown);
    return `${style.red('error:')} ${printable(message)}`;
  }
}
