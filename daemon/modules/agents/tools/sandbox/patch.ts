import { applyPatch, parsePatch, type StructuredPatch } from 'diff';
import { invalid } from '../../../../../src/errors/app-error.ts';

/** What a patch does to one file. */
export interface FilePatch {
  readonly path: string;
  readonly kind: 'create' | 'change' | 'delete';
  /** The text after it; undefined when the hunks do not fit the text before. A file that is made has '' before. */
  apply(before: string): string | undefined;
}

const MOST_FILES = 200;
const NO_FILE = '/dev/null';
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/;

/**
 * Reads a unified diff. Counts in the heads of hunks that are wrong are made right, because models count badly; where a hunk stands is
 * found by its lines, and its number is only where the search begins. Errors: invalid_argument naming `patch`.
 */
export function readPatch(text: string): FilePatch[] {
  const parsed = structured(text).filter(({ hunks }) => hunks.length > 0);
  if (parsed.length === 0) throw bad('has no hunk: it must be a unified diff with ---, +++ and @@ lines');
  if (parsed.length > MOST_FILES) throw bad(`names more than ${MOST_FILES} files`);
  const patches = parsed.map(filePatchOf);
  const twice = patches.find(({ path }, i) => patches.some((other, j) => j < i && other.path === path));
  if (twice) throw bad(`names ${twice.path} twice`);
  return patches;
}

function structured(text: string): StructuredPatch[] {
  try {
    return parsePatch(text);
  } catch {
    return miscounted(text);
  }
}

function miscounted(text: string): StructuredPatch[] {
  try {
    return parsePatch(recounted(text));
  } catch (error) {
    throw bad(`cannot be read: ${error instanceof Error ? error.message : 'it is no unified diff'}`);
  }
}

function filePatchOf(patch: StructuredPatch): FilePatch {
  const [before, after] = [nameOf(patch.oldFileName), nameOf(patch.newFileName)];
  const kind = before === undefined ? 'create' : after === undefined ? 'delete' : 'change';
  const path = after ?? before;
  if (path === undefined) throw bad('has a part that names no file');
  if (kind === 'change' && before !== after)
    throw bad(`renames ${before} to ${after}; rename with sandbox_shell and patch the new name`);
  return {
    path,
    kind,
    apply(text) {
      const result = applyPatch(text, patch);
      return result === false ? undefined : result;
    },
  };
}

/** A name without the a/ and b/ of Git; undefined for /dev/null. Errors: invalid_argument. */
function nameOf(name: string | undefined): string | undefined {
  const bare = name?.trim();
  if (!bare) throw bad('has a part without a --- or +++ line');
  return bare === NO_FILE ? undefined : bare.replace(/^[ab]\//, '');
}

/** The same diff with heads of hunks that count their lines as they are. */
export function recounted(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const result: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const head = HUNK.exec(lines[at] ?? '');
    if (!head) {
      result.push(lines[at++] ?? '');
      continue;
    }
    const end = hunkEnd(lines, at + 1);
    const body = lines.slice(at + 1, end).map((line) => (line === '' ? ' ' : line));
    const count = (signs: string) => body.filter((line) => signs.includes(line[0] ?? '')).length;
    result.push(`@@ -${head[1]},${count(' -')} +${head[2]},${count(' +')} @@${head[3]}`, ...body);
    at = end;
  }
  return result.join('\n');
}

/** Where a hunk ends: at the next one, at the next file, or with the text. Empty lines at its end are not of it. */
function hunkEnd(lines: readonly string[], start: number): number {
  let end = start;
  while (end < lines.length && !isHead(lines, end)) end++;
  while (end > start && lines[end - 1] === '') end--;
  return end;
}

function isHead(lines: readonly string[], at: number): boolean {
  const [line = '', second = '', third = ''] = lines.slice(at, at + 3);
  if (/^[ +\\]/.test(line) || line === '') return false;
  // A line that is taken away may begin with "-- ": it is the head of a file where a name and a hunk follow.
  return !line.startsWith('-') || (line.startsWith('--- ') && second.startsWith('+++ ') && HUNK.test(third));
}

function bad(description: string) {
  return invalid({ field: 'patch', description });
}
