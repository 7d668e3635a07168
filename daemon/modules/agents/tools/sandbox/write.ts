import { t } from '../../../../../src/api/schema.ts';
import { AppError } from '../../../../../src/errors/app-error.ts';
import type { FileWhere, OwnFiles } from '../../../sandbox/index.ts';
import { declareTool } from '../declare.ts';
import { done, failed, type Tool, type ToolContext, type ToolOutcome } from '../tool.ts';
import type { SandboxParts } from './command.ts';
import { editText, shown } from './edit.ts';
import { hashOf, inPlace, readText, writeText } from './files.ts';
import { pathIn } from './home.ts';
import { type FilePatch, readPatch } from './patch.ts';

const MOST_CONTENT = 4 * 1024 * 1024;
/** Written down by what may be done again. */
const AGAIN = 'again';
/** In place of the hash of a file that is not there. */
const NONE = '';

/** A file that is about to change: what it was, and what it will be. Written down before it does. */
interface Change {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** A change and its text; undefined takes the file away. */
interface Ready extends Change {
  readonly text: string | undefined;
}

/** The tools that change files. A change that was cut off is found by looking: it was done, or it is done now. */
export function writeTools(parts: SandboxParts): Tool[] {
  return [writeFile(parts), edit(parts), patch(parts)];
}

function writeFile(parts: SandboxParts): Tool {
  type Args = { path: string; content: string };
  const run = ({ path, content }: Args, context: ToolContext) =>
    inPlace(parts, context, async (place, where) => {
      const absolute = pathIn(place, path);
      context.note(AGAIN);
      const size = await writeText(parts.own.files, where, absolute, content);
      return done(`Wrote ${size} bytes to ${absolute}.`);
    });
  return declareTool({
    name: 'sandbox_write_file',
    description: 'Writes a whole file in your sandbox; one that is there is replaced. Directories are made.',
    parameters: t.Object({
      path: t.String({ minLength: 1 }),
      content: t.String({ maxLength: MOST_CONTENT }),
    }),
    run,
    recover: run,
  });
}

function edit(parts: SandboxParts): Tool {
  type Args = { path: string; oldText: string; newText: string; replaceAll?: boolean };
  const { files } = parts.own;
  const run = ({ path, oldText, newText, replaceAll = false }: Args, context: ToolContext) =>
    inPlace(parts, context, async (place, where) => {
      const absolute = pathIn(place, path);
      const before = await readText(files, where, absolute);
      const edited = editText(before, { oldText, newText, replaceAll });
      if (!edited.ok) return failed(`${absolute} was not changed: ${edited.why}.`);
      await change(files, where, context, [changeOf(absolute, before, edited.text)]);
      const times = edited.lines.length === 1 ? 'once' : `${edited.lines.length} times`;
      return done(`Replaced ${times} in ${absolute} (line ${shown(edited.lines)}).`);
    });
  return declareTool({
    name: 'sandbox_edit',
    description:
      'Replaces text in a file of your sandbox. oldText must be there by the letter, and only once unless replaceAll is set.',
    parameters: t.Object({
      path: t.String({ minLength: 1 }),
      oldText: t.String({ minLength: 1 }),
      newText: t.String(),
      replaceAll: t.Optional(t.Boolean()),
    }),
    run,
    recover: (args, context, note) => recoverChange(parts, context, note, () => run(args, context)),
  });
}

function patch(parts: SandboxParts): Tool {
  type Args = { patch: string; path?: string };
  const { files } = parts.own;
  const run = ({ patch: text, path = '' }: Args, context: ToolContext) =>
    inPlace(parts, context, async (place, where) => {
      const root = pathIn(place, path);
      const ready: Ready[] = [];
      for (const one of readPatch(text)) {
        const absolute = pathIn({ ...place, directory: root }, one.path);
        const made = await prepared(files, where, absolute, one);
        if (typeof made === 'string') return failed(`Nothing was changed: ${made}.`);
        ready.push(made);
      }
      await change(files, where, context, ready);
      return done(ready.map(({ path: at, before, after }) => `${verbOf(before, after)} ${at}`).join('\n'));
    });
  return declareTool({
    name: 'sandbox_patch',
    description:
      'Applies a unified diff (--- a/file, +++ b/file, @@ hunks) to files of your sandbox, all of it or nothing. /dev/null makes or removes a file.',
    parameters: t.Object({
      patch: t.String({ minLength: 1, maxLength: MOST_CONTENT }),
      path: t.Optional(
        t.String({
          description: 'The directory that its names begin in; the working directory when absent.',
        }),
      ),
    }),
    run,
    recover: (args, context, note) =>
      recoverPatch(parts, context, note, () => run(args, context), args.patch),
  });
}

/** What a patch makes of a file, or why it does not fit. */
async function prepared(
  files: OwnFiles,
  where: FileWhere,
  path: string,
  one: FilePatch,
): Promise<Ready | string> {
  const before = await textAt(files, where, path);
  if (one.kind === 'create' && before !== undefined) return `${path} exists already`;
  if (one.kind !== 'create' && before === undefined) return `there is no file ${path}`;
  const after = one.apply(before ?? '');
  if (after === undefined) return `a hunk does not fit ${path}: read the file again`;
  return changeOf(path, before, one.kind === 'delete' && after === '' ? undefined : after);
}

function changeOf(path: string, before: string | undefined, text: string | undefined): Ready {
  const [was, will] = [before, text].map((one) => (one === undefined ? NONE : hashOf(one)));
  return { path, before: was ?? NONE, after: will ?? NONE, text };
}

async function change(
  files: OwnFiles,
  where: FileWhere,
  context: ToolContext,
  ready: readonly Ready[],
): Promise<void> {
  const changes: Change[] = ready.map(({ path, before, after }) => ({ path, before, after }));
  context.note(JSON.stringify(changes));
  for (const { path, text } of ready)
    if (text === undefined) await files.remove(where, path);
    else await writeText(files, where, path, text);
}

/** A change of one file that was cut off. Undefined: the file is neither what it was nor what it was to be. */
async function recoverChange(
  parts: SandboxParts,
  context: ToolContext,
  note: string,
  again: () => Promise<ToolOutcome>,
): Promise<ToolOutcome | undefined> {
  if (note === '') return again();
  const [one] = await statesOf(parts, context, note);
  if (one?.state === 'before') return again();
  return one?.state === 'after' ? done(`Changed ${one.path}.`) : undefined;
}

/** A patch that was cut off: some of its files may be changed already. */
async function recoverPatch(
  parts: SandboxParts,
  context: ToolContext,
  note: string,
  again: () => Promise<ToolOutcome>,
  text: string,
): Promise<ToolOutcome | undefined> {
  if (note === '') return again();
  const states = await statesOf(parts, context, note);
  if (states.some(({ state }) => state === 'other')) return undefined;
  if (states.every(({ state }) => state === 'before')) return again();
  const patches = readPatch(text);
  return inPlace(parts, context, async (_, where) => {
    for (const [i, { path, state }] of states.entries()) {
      const one = patches[i];
      if (state === 'after' || !one) continue;
      const made = await prepared(parts.own.files, where, path, one);
      if (typeof made === 'string')
        return failed(`Some files were changed before svc was restarted, but ${made}.`);
      if (made.text === undefined) await parts.own.files.remove(where, path);
      else await writeText(parts.own.files, where, path, made.text);
    }
    return done(states.map(({ path, before, after }) => `${verbOf(before, after)} ${path}`).join('\n'));
  });
}

/** What the files of a change are now. */
async function statesOf(
  { own, places }: SandboxParts,
  context: ToolContext,
  note: string,
): Promise<Array<Change & { readonly state: 'before' | 'after' | 'other' }>> {
  const { tenant, sandboxId } = await places.ready(context);
  const where = { tenant, sandbox: sandboxId };
  const changes = JSON.parse(note) as Change[];
  const found = [];
  for (const one of changes) {
    const text = await textAt(own.files, where, one.path);
    const now = text === undefined ? NONE : hashOf(text);
    const state = now === one.after ? 'after' : now === one.before ? 'before' : 'other';
    found.push({ ...one, state } as const);
  }
  return found;
}

/** The text of a file; undefined when it is not there. */
async function textAt(files: OwnFiles, where: FileWhere, path: string): Promise<string | undefined> {
  try {
    return await readText(files, where, path);
  } catch (error) {
    if (error instanceof AppError && error.code === 'file_not_found') return undefined;
    throw error;
  }
}

function verbOf(before: string, after: string): string {
  if (before === NONE) return 'made';
  return after === NONE ? 'removed' : 'changed';
}
