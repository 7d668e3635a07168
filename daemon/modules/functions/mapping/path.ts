/** One step of a path: a member of an object, an item of a list (from its end when negative), or every item. */
export type Step = { readonly name: string } | { readonly index: number } | { readonly every: true };

const STEP = /\.([A-Za-z_][\w-]*)|\[(-?\d{1,9})\]|\[\*\]|\['((?:[^'\\]|\\['\\])*)'\]/y;
const MOST_STEPS = 32;

/**
 * Reads a path: `$` and then `.name`, `['any name']`, `[0]`, `[-1]` or `[*]`: the part of JSONPath (RFC 9535) that leads
 * somewhere without searching. The reason when it is none.
 */
export function parsePath(text: string): readonly Step[] | string {
  if (!text.startsWith('$')) return 'a path begins with $';
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < text.length) {
    const at = STEP.lastIndex;
    const found = STEP.exec(text);
    if (!found) return `${JSON.stringify(text.slice(at, at + 20))} is no step of a path`;
    if (steps.push(stepOf(found)) > MOST_STEPS) return `a path has at most ${MOST_STEPS} steps`;
  }
  return steps;
}

/** What a path leads to; undefined when there is nothing. A path with `[*]` leads to a list of what was there. */
export function follow(root: unknown, steps: readonly Step[]): unknown {
  let found: unknown[] = [root];
  let isMany = false;
  for (const step of steps) {
    isMany ||= 'every' in step;
    found = found.flatMap((value) => take(value, step));
  }
  return isMany ? found : found[0];
}

function stepOf([text, name, index, quoted]: RegExpExecArray): Step {
  if (name !== undefined) return { name };
  if (index !== undefined) return { index: Number(index) };
  return text === '[*]' ? { every: true } : { name: (quoted ?? '').replace(/\\(['\\])/g, '$1') };
}

/** Own members only: what every object inherits is nobody's argument. */
function take(value: unknown, step: Step): readonly unknown[] {
  if ('name' in step) return isRecord(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
  if (!Array.isArray(value)) return [];
  if ('every' in step) return value;
  const item: unknown = value.at(step.index);
  return item === undefined ? [] : [item];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
