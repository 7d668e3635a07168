/** A path of the contract in the form that the router takes. */
export interface RouterPath {
  /** `/v1/things/:p0/parts/:p1`: parameters by position, since two operations may name one place differently. */
  readonly pattern: string;
  /** The declared names, by position, each with the text that follows it inside its segment (`.json`). */
  readonly names: ReadonlyArray<{ readonly name: string; readonly suffix: string }>;
}

/** Turns `/openapi/{spec}.json` into a router pattern and the names of its parameters. */
export function toRouterPath(path: string): RouterPath {
  const names: Array<{ name: string; suffix: string }> = [];
  const pattern = path
    .split('/')
    .map((segment) => {
      const match = /^\{(\w+)\}(.*)$/.exec(segment);
      if (!match) return segment;
      names.push({ name: match[1] ?? '', suffix: match[2] ?? '' });
      return `:p${names.length - 1}`;
    })
    .join('/');
  return { pattern, names };
}

/** The parameters under their declared names; undefined when a segment lacks its suffix. */
export function readParams(
  { names }: RouterPath,
  given: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [i, { name, suffix }] of names.entries()) {
    const text = given[`p${i}`] ?? '';
    if (!text.endsWith(suffix)) return undefined;
    params[name] = suffix === '' ? text : text.slice(0, -suffix.length);
  }
  return params;
}
