import type { Settlement } from '../pipeline/settlement.ts';

/** An answer with the headers that say how it came about. Headers that are passed are the answer's own from here on. */
export function respond(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  passed: Headers | Readonly<Record<string, string>>,
  settlement: Settlement,
): Response {
  const headers = passed instanceof Headers ? passed : new Headers(passed);
  const more = settlement.headers();
  for (const name in more) headers.set(name, more[name] ?? '');
  return new Response(body, { headers });
}
