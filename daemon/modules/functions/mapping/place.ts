/** Names that reach into what every object inherits. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);
const MOST_DEPTH = 16;

/** Reads where a value goes in an object: names with dots between them, `user.name`. The reason when it is nowhere. */
export function parsePlace(text: string): readonly string[] | string {
  const names = text.split('.');
  if (names.some((name) => name === '')) return 'is names with dots between them, such as user.name';
  if (names.some((name) => FORBIDDEN.has(name))) return 'uses a name that objects have of themselves';
  return names.length > MOST_DEPTH ? `is more than ${MOST_DEPTH} names deep` : names;
}

/** An object with values at their places. Where one place is inside another, the deeper one is left out. */
export function assemble(values: ReadonlyArray<readonly [place: readonly string[], value: unknown]>) {
  const whole: Record<string, unknown> = {};
  const made = new Set<object>([whole]);
  for (const [place, value] of values.toSorted(([a], [b]) => a.length - b.length))
    put(whole, place, value, made);
  return whole;
}

function put(
  whole: Record<string, unknown>,
  place: readonly string[],
  value: unknown,
  made: Set<object>,
): void {
  let at = whole;
  for (const name of place.slice(0, -1)) {
    if (!Object.hasOwn(at, name)) {
      const next: Record<string, unknown> = {};
      made.add(next);
      at[name] = next;
    }
    const next = at[name];
    // A value that was mapped there is not ours to write into.
    if (typeof next !== 'object' || next === null || !made.has(next)) return;
    at = next as Record<string, unknown>;
  }
  const last = place.at(-1);
  if (last !== undefined && !Object.hasOwn(at, last)) at[last] = value;
}
