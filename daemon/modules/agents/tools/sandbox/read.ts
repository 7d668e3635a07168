import { t } from '../../../../../src/api/schema.ts';
import type { FileWhere } from '../../../sandbox/index.ts';
import { declareTool } from '../declare.ts';
import { done, failed, type Tool, type ToolOutcome } from '../tool.ts';
import type { SandboxParts } from './command.ts';
import { checkText, inPlace } from './files.ts';
import { pathIn, shownIn } from './home.ts';
import { windowOf } from './lines.ts';

const DEFAULT_LINES = 2_000;
const MOST_LISTED = 500;
const MOST_DEPTH = 20;
const MOST_FOUND = 200;
const MOST_MATCHES = 200;
const MOST_MATCH_CHARACTERS = 300;
/** Directories that a search does not go into by itself: what is in them is made by programs. */
const SKIPPED = ['.git', 'node_modules', '__pycache__', '.venv'];

/** The tools that only look. */
export function readTools(parts: SandboxParts): Tool[] {
  return [readFile(parts), listFiles(parts), glob(parts), grep(parts)];
}

function readFile(parts: SandboxParts): Tool {
  return declareTool({
    name: 'sandbox_read_file',
    description:
      'Reads a text file of your sandbox with line numbers. Long files come in parts: go on with offset.',
    isRead: true,
    isParallel: true,
    parameters: t.Object({
      path: t.String({ minLength: 1 }),
      offset: t.Optional(t.Integer({ minimum: 1, description: 'First line, from 1.' })),
      limit: t.Optional(t.Integer({ minimum: 1, description: `How many lines. Default ${DEFAULT_LINES}.` })),
    }),
    run: ({ path, offset = 1, limit = DEFAULT_LINES }, context) =>
      inPlace(parts, context, async (place, where) => {
        const absolute = pathIn(place, path);
        return done(await windowOf(text(parts, where, absolute), offset, limit));
      }),
  });
}

/** The bytes of a file that is text. */
async function* text({ own }: SandboxParts, where: FileWhere, path: string): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const part of own.files.read(where, path)) {
    if (isFirst) checkText(path, part);
    isFirst = false;
    yield part;
  }
}

function listFiles(parts: SandboxParts): Tool {
  return declareTool({
    name: 'sandbox_list_files',
    description: 'Lists a directory of your sandbox: sizes in bytes and names; directories end in /.',
    isRead: true,
    isParallel: true,
    parameters: t.Object({
      path: t.Optional(t.String({ description: 'The working directory when absent.' })),
      depth: t.Optional(
        t.Integer({ minimum: 1, maximum: MOST_DEPTH, description: 'Levels to go down. Default 1.' }),
      ),
    }),
    run: ({ path = '', depth = 1 }, context) =>
      inPlace(parts, context, async (place, where) => {
        const root = pathIn(place, path);
        const { entries, total } = await parts.own.files.list(where, root, depth, MOST_LISTED);
        const start = root.endsWith('/') ? root.length : root.length + 1;
        const lines = entries.map(({ path: one, type, size, target }) => {
          const name = one.slice(start);
          if (type === 'directory') return `${'-'.padStart(10)} ${name}/`;
          return `${String(size).padStart(10)} ${name}${target === undefined ? '' : ` -> ${target}`}`;
        });
        return listed(root, lines, total - entries.length);
      }),
  });
}

function glob(parts: SandboxParts): Tool {
  return declareTool({
    name: 'sandbox_glob',
    description:
      'Finds files of your sandbox by a glob such as *.ts (by name, at any depth) or src/**/*.test.ts (by path).',
    isRead: true,
    isParallel: true,
    parameters: t.Object({
      pattern: t.String({ minLength: 1, maxLength: 1_000 }),
      path: t.Optional(t.String({ description: 'Where to look; the working directory when absent.' })),
    }),
    run: ({ pattern, path = '' }, context) =>
      inPlace(parts, context, async (place, where) => {
        const root = pathIn(place, path);
        const { files, isCut } = await parts.own.files.find(where, root, pattern, context.signal);
        const shown = files.slice(0, MOST_FOUND).map((file) => shownIn(place, file.path));
        if (shown.length === 0) return done(`Nothing below ${root} matches ${pattern}.`);
        return listed(root, shown, files.length - shown.length, isCut);
      }),
  });
}

function grep(parts: SandboxParts): Tool {
  return declareTool({
    name: 'sandbox_grep',
    description: `Finds lines in files of your sandbox by an extended regular expression (grep -E). Does not go into ${SKIPPED.join(', ')}.`,
    isRead: true,
    isParallel: true,
    parameters: t.Object({
      pattern: t.String({ minLength: 1, maxLength: 2_000 }),
      path: t.Optional(t.String({ description: 'A file or directory; the working directory when absent.' })),
      glob: t.Optional(t.String({ description: 'Only files with such names, as *.py.' })),
    }),
    run: ({ pattern, path = '', glob: names }, context) =>
      inPlace(parts, context, async (place, where) => {
        const root = pathIn(place, path);
        const narrow = { skip: SKIPPED, ...(names && !names.includes('/') ? { names } : {}) };
        const query = { path: root, pattern, narrow };
        const { matches, isCut } = await parts.own.files.search(where, query, context.signal);
        const fits = fitting(root, names);
        const lines = matches
          .filter(({ file }) => fits(file))
          .map(({ file, line, content }) => `${shownIn(place, file)}:${line}: ${short(content)}`);
        if (lines.length === 0 && !isCut) return done(`No line below ${root} matches ${pattern}.`);
        const shown = lines.slice(0, MOST_MATCHES);
        return listed(root, shown, lines.length - shown.length, isCut);
      }),
  });
}

/**
 * Whether a file is among those that are looked into: by its name, or by its path below a directory where the glob has a slash.
 * Not every program that searches can be told.
 */
function fitting(root: string, names: string | undefined): (file: string) => boolean {
  const pattern = names ? new Bun.Glob(names) : undefined;
  const start = root.endsWith('/') ? root.length : root.length + 1;
  return (file) => {
    const path = file.slice(start);
    if (
      path
        .split('/')
        .slice(0, -1)
        .some((part) => SKIPPED.includes(part))
    )
      return false;
    return pattern?.match(names?.includes('/') ? path : file.slice(file.lastIndexOf('/') + 1)) ?? true;
  };
}

function short(content: string): string {
  const line = content.trimEnd();
  return line.length <= MOST_MATCH_CHARACTERS ? line : `${line.slice(0, MOST_MATCH_CHARACTERS)}...`;
}

function listed(root: string, lines: readonly string[], more: number, isCut = false): ToolOutcome {
  if (lines.length === 0 && isCut)
    return failed('There is too much to look at. Narrow the path or the pattern.');
  if (lines.length === 0) return done(`${root} is empty.`);
  const rest = isCut ? '(there is more: narrow the path or the pattern)' : more > 0 ? `(${more} more)` : '';
  return done([...lines, ...(rest === '' ? [] : [rest])].join('\n'));
}
