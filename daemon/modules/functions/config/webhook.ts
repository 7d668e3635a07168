import type { WebhookConfig } from '../../../../src/api/functions/functions.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { maskKey } from '../../../../src/kit/redact.ts';
import { checkHeaders, type Method, readMethod, readUrl } from './checks.ts';
import { hide, hideUrl, refuseMoved, reveal, secretHeader } from './hidden.ts';

/** A webhook function: an endpoint that its owner runs. */
export interface Webhook {
  readonly url: string;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  /** Of one attempt, in milliseconds; 0 is as long as the function may take. */
  readonly timeoutMs: number;
  /** What requests are signed with; empty for no signature. */
  readonly secret: string;
}

type Sent = Value<typeof WebhookConfig>;

const MOST_TIMEOUT_MS = 15 * 60_000;
const MOST_SECRET = 1024;

/** A webhook as it was sent, over what was there before. Errors: invalid_argument naming the field. */
export function readWebhook(sent: Sent, earlier: Webhook | undefined): Webhook {
  const kept = earlier && (sent.url === undefined || sent.url === hideUrl(earlier.url));
  const url = kept ? earlier.url : readUrl(sent.url ?? '', 'webhook.url');
  const headers = reveal(sent.headers, earlier?.headers ?? {}, secretHeader, 'webhook.headers');
  checkHeaders(headers.values, 'webhook.headers');
  refuseMoved(earlier?.url, url, headers.keepsSecrets, 'webhook.url');
  const timeoutMs = sent.timeoutMs ?? earlier?.timeoutMs ?? 0;
  if (timeoutMs < 0 || timeoutMs > MOST_TIMEOUT_MS)
    throw invalid({ field: 'webhook.timeoutMs', description: `must be between 0 and ${MOST_TIMEOUT_MS}` });
  return {
    url,
    method: readMethod(sent.method || earlier?.method || 'POST', 'webhook.method'),
    headers: headers.values,
    timeoutMs,
    secret: readSecret(sent.secret, earlier?.secret ?? ''),
  };
}

/** A webhook as it is shown. */
export function showWebhook({ url, headers, secret, ...rest }: Webhook): Sent {
  return {
    ...rest,
    url: hideUrl(url),
    headers: hide(headers, secretHeader),
    ...(secret === '' ? {} : { secret: maskKey(secret) }),
  };
}

function readSecret(sent: string | undefined, earlier: string): string {
  if (sent === undefined || (earlier !== '' && sent === maskKey(earlier))) return earlier;
  const refuse = (description: string) => invalid({ field: 'webhook.secret', description });
  if (sent.startsWith('****')) throw refuse('is a mask; send the value itself');
  if (sent.length > MOST_SECRET) throw refuse(`must be at most ${MOST_SECRET} characters`);
  return sent;
}
