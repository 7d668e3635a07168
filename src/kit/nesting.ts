/**
 * The deepest nesting of JSON that is taken from anybody. Engines look for cycles while they write JSON, which takes the square of
 * the depth: tens of thousands of brackets are seconds in which nothing else runs.
 */
export const DEEPEST = 512;

/** Whether values stand in one another deeper than so many levels. */
export function isNestedDeeper(value: unknown, most: number = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isNestedDeeper(item, most - 1)) return true;
    return false;
  }
  for (const name in value)
    if (isNestedDeeper((value as Record<string, unknown>)[name], most - 1)) return true;
  return false;
}

/** The value of a JSON text. Errors: SyntaxError, also for what is nested too deeply to be written again. */
export function parseNested(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isNestedDeeper(value)) throw new SyntaxError(`it is nested deeper than ${DEEPEST} levels`);
  return value;
}
