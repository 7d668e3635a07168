import type { ModelCall } from '../pipeline/call.ts';

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

/** Fields that change who asks or how an answer travels, and not what it says. */
const WITHOUT_EFFECT = new Set([
  'stream',
  'stream_options',
  'user',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
]);

/** Headers of callers that change the answer. */
const WITH_EFFECT = ['x-svc-fallback', 'x-svc-strategy', 'anthropic-version', 'anthropic-beta'];

/** The key of a request: of its tenant, its surface, and every field that changes its answer. */
export function requestKey(call: ModelCall, scope: Scope): RequestKey {
  const { caller, surface, headers, request } = call;
  const sent = WITH_EFFECT.map((name) => headers.get(name) ?? '');
  const head = JSON.stringify([caller.tenant, surface, ...scope, ...sent]);
  return keyOf(`${head}\n${canonical(effective(request))}`);
}

/** The key of a text. */
export function keyOf(text: string): RequestKey {
  return {
    place: Bun.hash.xxHash64(text).toString(16).padStart(16, '0'),
    proof: new Bun.CryptoHasher('sha256').update(text).digest('base64url'),
  };
}

/** The fields of a request that change its answer. */
export function effective(request: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !WITHOUT_EFFECT.has(name)));
}

/** JSON of a value with the keys of its objects in order: equal for equal values. Errors: RangeError for what is nested too deeply. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
}
