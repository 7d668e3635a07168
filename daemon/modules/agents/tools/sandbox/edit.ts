/** What an edit has come to. */
export type Edited =
  | { readonly ok: true; readonly text: string; readonly lines: readonly number[] }
  | { readonly ok: false; readonly why: string };

/** Text that is replaced by the letter, once or everywhere. */
export interface Edit {
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

const MOST_SHOWN = 10;

/** Replaces text in a text. In a file with Windows line ends, those of the edit are taken for the same. */
export function editText(text: string, edit: Edit): Edited {
  if (edit.oldText === edit.newText) return { ok: false, why: 'oldText and newText are the same' };
  const fit = text.includes(edit.oldText) ? edit : windowsEdit(text, edit);
  const places = fit ? placesOf(text, fit.oldText) : [];
  if (!fit || places.length === 0) return { ok: false, why: whyMissing(text, edit.oldText) };
  const lines = linesAt(text, places);
  if (places.length > 1 && !edit.replaceAll)
    return {
      ok: false,
      why: `oldText is there ${places.length} times (lines ${shown(lines)}); give more of the text around the one that is meant, or set replaceAll`,
    };
  return { ok: true, text: text.split(fit.oldText).join(fit.newText), lines };
}

/** Line numbers for a model to read. */
export function shown(lines: readonly number[]): string {
  const more = lines.length > MOST_SHOWN ? ', ...' : '';
  return `${lines.slice(0, MOST_SHOWN).join(', ')}${more}`;
}

function windowsEdit(text: string, edit: Edit): Edit | undefined {
  if (!text.includes('\r\n')) return undefined;
  const windows = (part: string) => part.replaceAll(/\r?\n/g, '\r\n');
  return { ...edit, oldText: windows(edit.oldText), newText: windows(edit.newText) };
}

function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

/** The lines of places in a text, which are in order. */
function linesAt(text: string, places: readonly number[]): number[] {
  let [line, from] = [1, 0];
  return places.map((place) => {
    for (let at = text.indexOf('\n', from); at >= 0 && at < place; at = text.indexOf('\n', from)) {
      line++;
      from = at + 1;
    }
    return line;
  });
}

/** Why a text is not there: mostly its spaces are others. */
function whyMissing(text: string, wanted: string): string {
  const first = wanted
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '');
  const at = first === undefined ? -1 : text.split('\n').findIndex((line) => line.trim() === first);
  return at < 0
    ? 'oldText is not in the file; read it again'
    : `oldText is not in the file by the letter; line ${at + 1} is like its beginning: look at the spaces and at what follows`;
}
