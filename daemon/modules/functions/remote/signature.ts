import { createHmac } from 'node:crypto';

/** What marks a secret whose bytes are in base64 (Standard Webhooks, Signature scheme). */
const PREFIX = 'whsec_';

/**
 * The headers by which an endpoint knows who calls: `X-Svc-Signature`, `sha256=<hex>` over the body keyed with the text of
 * the secret, and those of Standard Webhooks. A request without a body is signed as an empty one.
 */
export function signatureHeaders(
  secret: string,
  id: string,
  body: string,
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const key = secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : secret;
  const standard = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'x-svc-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard}`,
  };
}
