import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { fail } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';

/** Largest body of a call (spec, Limits). */
export const BODY_LIMIT = 256 * 1024;

/** Header that carries the signature: `sha256=<hex HMAC-SHA256 of the body's bytes>` (spec, Incoming trigger webhooks). */
export const SIGNATURE_HEADER = 'x-hub-signature-256';

/** Headers that name a delivery, the most telling first. */
const DELIVERY_HEADERS = ['x-github-delivery', 'webhook-id', 'idempotency-key', 'x-request-id'];

/** Names that may stand before a credential. */
const SECRET_HEADER = /auth|cookie|token|secret|signature|password|credential|session|api-?key|^x-s(vc)?-/;
/** Names that belong to one connection, or to what stands between. */
const CONNECTION_HEADER =
  /^(connection|keep-alive|te|trailer|transfer-encoding|upgrade|host|content-length|accept-encoding|expect|proxy-.*|sec-.*)$/;

/** A sender that trickles is not waited for. */
const READ_MS = 30 * SECOND_MS;

const MOST_HEADERS = 64;
const MAX_HEADERS_BYTES = 16 * 1024;

/** The bytes of a body, which has to come within `withinMs`. Errors: body_too_large, malformed_body. */
export async function readBody(request: Request, withinMs = READ_MS): Promise<Buffer> {
  const reader = request.body?.getReader();
  const late = fail('malformed_body', { message: `The body did not come within ${withinMs / SECOND_MS} s.` });
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => deadline.reject(late), withinMs);
  const chunks: Uint8Array[] = [];
  try {
    for (let size = 0; ; ) {
      const part = await Promise.race([reader?.read(), deadline.promise]);
      if (!part || part.done) return Buffer.concat(chunks);
      size += part.value.byteLength;
      if (size > BODY_LIMIT) throw fail('body_too_large', { limit: BODY_LIMIT });
      chunks.push(part.value);
    }
  } finally {
    clearTimeout(timer);
    void reader?.cancel().catch(() => undefined);
  }
}

/** Whether a signature was made with the secret over exactly these bytes. Takes as long whatever is wrong. */
export function isSigned(body: Uint8Array, secret: string, signature: string | null): boolean {
  const right = createHmac('sha256', secret).update(body).digest();
  const given = /^sha256=[0-9a-f]{64}$/i.test(signature ?? '') ? (signature ?? '').slice(7) : '';
  const bytes = Buffer.from(given.padEnd(64, '0'), 'hex');
  return timingSafeEqual(right, bytes);
}

/** What names this delivery, so that it is taken once; null when nothing does. Long names are told by their SHA-256. */
export function deliveryIdOf(headers: Headers): string | null {
  const name = DELIVERY_HEADERS.map((header) => headers.get(header)).find((value) => value);
  if (!name) return null;
  return name.length <= 128 ? name : createHash('sha256').update(name).digest('hex');
}

/** The headers that are kept and told to the command: none that may bear a credential, and not too many. */
export function safeHeaders(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {};
  let size = 0;
  for (const [name, value] of headers) {
    if (SECRET_HEADER.test(name) || CONNECTION_HEADER.test(name)) continue;
    size += name.length + value.length;
    if (size > MAX_HEADERS_BYTES || Object.keys(kept).length >= MOST_HEADERS) break;
    kept[name] = value;
  }
  return kept;
}
