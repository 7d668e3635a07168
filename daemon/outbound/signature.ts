import { createHmac } from 'node:crypto';

/** What marks a secret whose bytes are in base64 (Standard Webhooks, Signature scheme). */
const PREFIX = 'whsec_';

/** A secret for an endpoint that brought none: 256 random bits. */
export function newEndpointSecret(): string {
  return PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64');
}

/**
 * The headers by which an endpoint knows who calls. `X-Svc-Signature` is `sha256=<hex>` over the body's bytes, keyed with the
 * text of the secret (spec, Outgoing sandbox lifecycle events); the `webhook-*` headers are those of Standard
 * Webhooks. A request without a body is signed as an empty one.
 */
export function signedHeaders(
  secret: string,
  id: string,
  body: string,
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const plain = createHmac('sha256', secret).update(body).digest('hex');
  const standard = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'x-svc-signature': `sha256=${plain}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard}`,
  };
}

function keyOf(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret);
}
