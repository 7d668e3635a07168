import { signedHeaders } from '../../../outbound/signature.ts';
import { hasBody } from '../config/checks.ts';
import type { Webhook } from '../config/webhook.ts';
import type { RemoteRequest } from './exchange.ts';
import { addQuery } from './query.ts';

/** Which call a request belongs to. */
export interface CallMark {
  /** The same for every attempt. */
  readonly id: string;
  readonly functionName: string;
  readonly nowMs: number;
}

/** The request of a webhook function: the arguments are its JSON body, or its query where a method has no body. */
export function webhookRequest(
  webhook: Webhook,
  args: Readonly<Record<string, unknown>>,
  mark: CallMark,
): RemoteRequest {
  const { url, method, secret } = webhook;
  const body = hasBody(method) ? JSON.stringify(args) : undefined;
  const headers: Record<string, string> = {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...lowerCase(webhook.headers),
    'accept-encoding': 'identity',
    'idempotency-key': mark.id,
    'x-svc-function': mark.functionName,
    'x-svc-invocation': mark.id,
    ...(secret === '' ? {} : signedHeaders(secret, mark.id, body ?? '', mark.nowMs)),
  };
  const whole = body === undefined ? addQuery(url, Object.entries(args)) : url;
  return { url: whole, method, headers, body, field: 'webhook.url' };
}

/** The same headers under names that are compared as they are. */
export function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
