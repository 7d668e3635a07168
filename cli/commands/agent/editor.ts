import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, invalid } from '../../../src/errors/app-error.ts';
import type { Cli } from '../../cli.ts';

/** A text that was opened in an editor. */
export interface Edited {
  readonly text: string;
  /** Where it lies, readable for the user alone. */
  readonly file: string;
  /** Removes the file. */
  discard(): void;
}

/**
 * Opens a text in $VISUAL or $EDITOR and waits for its end; undefined when nothing was changed. Errors: invalid_argument
 * without a terminal; failed_precondition when the editor fails, and then the text is as it was.
 */
export async function openInEditor(cli: Cli, text: string, name: string): Promise<Edited | undefined> {
  if (!process.stdin.isTTY || !cli.terminal.err.isTty)
    throw invalid({
      field: 'edit',
      description: 'needs a terminal for the editor; say what to change by options or with --file',
    });
  const dir = mkdtempSync(join(tmpdir(), 'svc-edit-'));
  const file = join(dir, name);
  const discard = () => rmSync(dir, { recursive: true, force: true });
  writeFileSync(file, text, { mode: 0o600 });
  const editor = cli.env.VISUAL || cli.env.EDITOR || 'vi';
  // An editor is a line of the shell: "code --wait".
  const child = Bun.spawn(['sh', '-c', `${editor} "$1"`, 'sh', file], {
    stdio: ['inherit', 'inherit', 'inherit'],
  });
  const code = await child.exited;
  const after = readFileSync(file, 'utf8');
  if (code === 0 && after !== text) return { text: after, file, discard };
  discard();
  if (code !== 0) throw fail('failed_precondition', { message: `The editor ${editor} ended with ${code}.` });
  return undefined;
}
