import { textOf } from '../mapping/expression.ts';

/** A URL with further parameters. A list is the parameter several times; nothing and null are left out. */
export function addQuery(url: string, entries: ReadonlyArray<readonly [string, unknown]>): string {
  const whole = new URL(url);
  for (const [name, value] of entries)
    for (const one of Array.isArray(value) ? value : [value]) {
      const text = textOf(one);
      if (text !== undefined) whole.searchParams.append(name, text);
    }
  return whole.href;
}
