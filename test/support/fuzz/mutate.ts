import fc from 'fast-check';
import { nastyText, nastyValue } from './nasty.ts';

/** One change to a value. `at` picks the place. */
interface Mutation {
  readonly kind: 'replace' | 'drop' | 'add' | 'wrap' | 'rename';
  readonly at: number;
  readonly value: unknown;
  readonly name: string;
}

type Path = ReadonlyArray<string | number>;

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('replace', 'replace', 'replace', 'drop', 'add', 'wrap', 'rename'),
  at: fc.nat(1_000),
  value: nastyValue,
  name: nastyText,
});

/** Values that were right until up to three things in them were changed. */
export function mutated(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(valid, fc.array(mutation, { maxLength: 3 }))
    .map(([value, mutations]) => mutations.reduce(apply, value));
}

function apply(value: unknown, mutation: Mutation): unknown {
  const paths = pathsOf(value);
  const path = paths[mutation.at % paths.length] ?? [];
  return changeAt(value, path, mutation);
}

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || path.length > 6) return [path];
  const inner = Object.entries(value).flatMap(([key, part]) => pathsOf(part, [...path, key]));
  return [path, ...inner];
}

function changeAt(value: unknown, path: Path, mutation: Mutation): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return changed(value, mutation);
  if (Array.isArray(value))
    return value.map((part, i) => (String(i) === String(key) ? changeAt(part, rest, mutation) : part));
  const entries = Object.entries(value as object);
  if (rest.length === 0 && mutation.kind === 'drop')
    return asObject(entries.filter(([name]) => name !== key));
  const isHere = (name: string) => name === key;
  if (rest.length === 0 && mutation.kind === 'rename')
    return asObject(entries.map(([name, part]) => [isHere(name) ? snakeCase(name) : name, part]));
  return asObject(
    entries.map(([name, part]) => [name, isHere(name) ? changeAt(part, rest, mutation) : part]),
  );
}

function changed(value: unknown, { kind, value: nasty, name }: Mutation): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (kind === 'add' && isObject) return asObject([...Object.entries(value), [name, nasty]]);
  if (kind === 'wrap') return [value];
  return kind === 'replace' ? nasty : value;
}

/** Object.fromEntries, in which `__proto__` is a name like any other. */
function asObject(entries: ReadonlyArray<readonly [string, unknown]>): object {
  return Object.fromEntries(entries);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
