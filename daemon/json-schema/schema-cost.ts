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

/** How large a schema is with all that it refers to written out in its place. */
export interface SchemaCost {
  /** Keywords and values: what checking one value costs at most. */
  readonly steps: number;
  /** Patterns: what checking one character costs at most. */
  readonly patterns: number;
}

const NOTHING: SchemaCost = { steps: 0, patterns: 0 };
const ONE_STEP: SchemaCost = { steps: 1, patterns: 0 };

/** Why a schema cannot be used: it refers to itself, to something that is not there, or is too large when written out. */
export type CostProblem =
  | { readonly problem: 'recursive'; readonly ref: string }
  | { readonly problem: 'unknown-ref'; readonly ref: string }
  | { readonly problem: 'too-large' };

/**
 * What a schema costs. A few lines that refer to each other twice over can be 2^40 steps, so this is known before anything
 * is compiled. A problem when it is more than `most` steps.
 */
export function schemaCost(schema: unknown, most: number): SchemaCost | CostProblem {
  return new CostCount(schema, most).count();
}

/** How many values a value is made of, itself included. */
export function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner), 1);
}

class CostCount {
  private readonly known = new Map<object, SchemaCost>();
  private readonly open = new Set<object>();

  constructor(
    private readonly root: unknown,
    private readonly most: number,
  ) {}

  count(): SchemaCost | CostProblem {
    try {
      const cost = this.of(this.root);
      return cost.steps > this.most ? { problem: 'too-large' } : cost;
    } catch (error) {
      if (error instanceof Found) return error.problem;
      if (error instanceof RangeError) return { problem: 'too-large' };
      throw error;
    }
  }

  private of(schema: unknown, ref = '#'): SchemaCost {
    if (typeof schema !== 'object' || schema === null) return ONE_STEP;
    const known = this.known.get(schema);
    if (known !== undefined) return known;
    if (this.open.has(schema)) throw new Found({ problem: 'recursive', ref });
    this.open.add(schema);
    const keywords = Object.entries(schema).map(([word, value]) => this.ofKeyword(word, value));
    const cost = total([ONE_STEP, ...keywords]);
    this.open.delete(schema);
    this.known.set(schema, cost);
    return cost;
  }

  private ofKeyword(word: string, value: unknown): SchemaCost {
    if (word === '$ref' || word === '$dynamicRef' || word === '$recursiveRef')
      return this.of(this.target(value), String(value));
    if (word === 'pattern') return { steps: 1, patterns: 1 };
    if (word === 'enum' || word === 'const') return { steps: countValues(value), patterns: 0 };
    if (LIST.has(word) && Array.isArray(value)) return this.sum(value);
    if (MAP.has(word) && isObject(value)) {
      const patterns = word === 'patternProperties' ? Object.keys(value).length : 0;
      return total([{ steps: 0, patterns }, this.sum(Object.values(value))]);
    }
    return ONE.has(word) ? this.of(value) : ONE_STEP;
  }

  private sum(schemas: readonly unknown[]): SchemaCost {
    return total(schemas.map((one) => this.of(one)));
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

function total(costs: readonly SchemaCost[]): SchemaCost {
  return costs.reduce(
    (sum, { steps, patterns }) => ({ steps: sum.steps + steps, patterns: sum.patterns + patterns }),
    NOTHING,
  );
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
