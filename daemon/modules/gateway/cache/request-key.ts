import type { ModelCall, Surface } from '../pipeline/call.ts';

/**
 * The name of a request among those whose answers are kept. `place` is the 64-bit xxHash (behaviour: Caching) by which it is found; `proof`
 * is the SHA-256 of the same text, which has to be equal too, so that no collision answers for another request.
 */
export interface RequestKey {
  readonly place: string;
  readonly proof: string;
}

/** What of an answer depends on more than its request: each text takes part in the key. */
export type Scope = readonly string[];

/** Fields that change how an answer travels, and not what it says. */
const TRAVEL = ['stream', 'stream_options', 'prompt_cache_key', 'prompt_cache_retention'];
/** Fields that change who asks. */
const ASKER = ['user', 'metadata', 'safety_identifier'];
const WITHOUT_EFFECT = new Set([...TRAVEL, ...ASKER]);
/** A response repeats its request, so that who asks is a part of the answer. */
const WITHOUT_EFFECT_ON_RESPONSES = new Set(TRAVEL);

/** Headers of callers that change the answer. */
const WITH_EFFECT = ['x-svc-fallback', 'x-svc-strategy', 'anthropic-version', 'anthropic-beta'];

/** The key of a request: of its tenant, its surface, and every field that changes its answer. */
export function requestKey(call: ModelCall, scope: Scope): RequestKey {
  const { caller, surface, headers, request } = call;
  const sent = WITH_EFFECT.map((name) => headers.get(name) ?? '');
  const head = JSON.stringify([caller.tenant, surface, ...scope, ...sent]);
  return keyOf(`${head}\n${canonical(effective(request, surface))}`);
}

/** The key of a text. */
export function keyOf(text: string): RequestKey {
  return {
    place: Bun.hash.xxHash64(text).toString(16).padStart(16, '0'),
    proof: new Bun.CryptoHasher('sha256').update(text).digest('base64url'),
  };
}

/** The fields of a request that change its answer. */
export function effective(request: object, surface: Surface): Record<string, unknown> {
  const ignored = surface === 'responses' ? WITHOUT_EFFECT_ON_RESPONSES : WITHOUT_EFFECT;
  return Object.fromEntries(Object.entries(request).filter(([name]) => !ignored.has(name)));
}

/** JSON of a value with the keys of its objects in order: equal for equal values. Errors: RangeError for what is nested too deeply. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
}
