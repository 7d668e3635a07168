/**
 * The query of a URL. A name that occurs again makes a list; `name[]=x` is always one, and
 * `name[key]=x` makes a map, as stock clients write them.
 */
export function readQuery(url: string): Record<string, unknown> {
  const start = url.indexOf('?');
  if (start < 0) return {};
  const query: Record<string, unknown> = Object.create(null);
  for (const [written, value] of new URLSearchParams(url.slice(start + 1))) {
    const [, name = written, key] = /^([^[\]]+)\[([^[\]]*)\]$/.exec(written) ?? [];
    if (key) query[name] = { ...asMap(query[name]), [key]: value };
    else query[name] = key === '' ? [...asList(query[name]), value] : joined(query[name], value);
  }
  return query;
}

function joined(earlier: unknown, value: string): unknown {
  return earlier === undefined ? value : [...asList(earlier), value];
}

function asList(value: unknown): unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function asMap(value: unknown): object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
