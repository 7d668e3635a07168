/** Where the keywords of a schema hold further schemas (JSON Schema 2020-12, core and applicators). */
const ONE = new Set([
  'additionalProperties',
  'additionalItems',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LIST = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
const MAP = new Set(['dependentSchemas', 'dependencies', 'patternProperties', 'properties']);

/** What a pattern costs more than another keyword: each looks at every character. */
const PATTERN_COST = 20;

/** Why a schema cannot be used: it refers to itself, to something that is not there, or is too large when written out. */
export type CostProblem =
  | { readonly problem: 'recursive'; readonly ref: string }
  | { readonly problem: 'unknown-ref'; readonly ref: string }
  | { readonly problem: 'too-large' };

/**
 * The size of a schema with all that it refers to written out in its place: what checking one value costs at most. A few
 * lines that refer to each other twice over can be 2^40 steps, so this is known before anything is compiled. A problem
 * when it is more than `most`.
 */
export function schemaCost(schema: unknown, most: number): number | CostProblem {
  return new CostCount(schema, most).count();
}

class CostCount {
  private readonly known = new Map<object, number>();
  private readonly open = new Set<object>();

  constructor(
    private readonly root: unknown,
    private readonly most: number,
  ) {}

  count(): number | CostProblem {
    try {
      const cost = this.of(this.root);
      return cost > this.most ? { problem: 'too-large' } : cost;
    } catch (error) {
      if (error instanceof Found) return error.problem;
      if (error instanceof RangeError) return { problem: 'too-large' };
      throw error;
    }
  }

  private of(schema: unknown, ref = '#'): number {
    if (typeof schema !== 'object' || schema === null) return 1;
    const known = this.known.get(schema);
    if (known !== undefined) return known;
    if (this.open.has(schema)) throw new Found({ problem: 'recursive', ref });
    this.open.add(schema);
    const cost = Object.entries(schema).reduce((sum, [word, value]) => sum + this.ofKeyword(word, value), 1);
    this.open.delete(schema);
    this.known.set(schema, cost);
    return cost;
  }

  private ofKeyword(word: string, value: unknown): number {
    if (word === '$ref' || word === '$dynamicRef' || word === '$recursiveRef')
      return this.of(this.target(value), String(value));
    if (word === 'pattern') return PATTERN_COST;
    if (LIST.has(word) && Array.isArray(value)) return this.sum(value);
    if (MAP.has(word) && isObject(value)) {
      const patterns = word === 'patternProperties' ? Object.keys(value).length * PATTERN_COST : 0;
      return patterns + this.sum(Object.values(value));
    }
    return ONE.has(word) ? this.of(value) : 1;
  }

  private sum(schemas: readonly unknown[]): number {
    return schemas.reduce<number>((sum, one) => sum + this.of(one), 0);
  }

  /** A place inside this schema: `#` or `#/$defs/name` (RFC 6901). Nothing is fetched, and nothing has another base. */
  private target(ref: unknown): unknown {
    const text = String(ref);
    if (typeof ref !== 'string' || !/^#(\/|$)/.test(text))
      throw new Found({ problem: 'unknown-ref', ref: text });
    let at: unknown = this.root;
    for (const part of text.slice(1).split('/').slice(1)) {
      const name = unescapePart(part);
      if (!isObject(at) || !Object.hasOwn(at, name)) throw new Found({ problem: 'unknown-ref', ref: text });
      at = at[name];
    }
    return at;
  }
}

class Found extends Error {
  constructor(readonly problem: CostProblem) {
    super(problem.problem);
  }
}

function unescapePart(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
