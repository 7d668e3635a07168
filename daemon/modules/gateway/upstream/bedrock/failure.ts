import type { Upstream } from '../adapter.ts';
import type { UpstreamError } from '../error.ts';
import { failedAnswer } from '../failed-answer.ts';
import { errorText } from '../translate/answer.ts';
import { isObject, parsed } from '../translate/content.ts';
import { accessKeyOf } from './access.ts';

/** Statuses that say less than the names of the errors. */
const STATUSES: Readonly<Record<string, number>> = {
  ModelErrorException: 502,
  ModelTimeoutException: 504,
  ServiceQuotaExceededException: 429,
  ThrottlingException: 429,
  ExpiredTokenException: 403,
  UnrecognizedClientException: 403,
  InvalidSignatureException: 403,
};

/** Reads an answer that is no success: the name of the error is in a header, its words in the body. */
export async function bedrockFailure(response: Response, upstream: Upstream): Promise<UpstreamError> {
  const body = parsed(withoutSecrets(await errorText(response), upstream));
  const { message, Message, __type } = isObject(body) ? body : {};
  const named = response.headers.get('x-amzn-errortype') ?? String(__type ?? '');
  const type = named.replace(/:.*$/, '').replace(/^.*#/, '');
  const text = JSON.stringify({ error: { message: message ?? Message, type: type || undefined } });
  const status = STATUSES[type] ?? response.status;
  return failedAnswer(new Response(text, { status, headers: response.headers }), upstream);
}

/** The parts of a key are secrets too. */
function withoutSecrets(text: string, { key }: Upstream): string {
  const { secretAccessKey, sessionToken } = accessKeyOf(key?.secret ?? '') ?? {};
  const parts = [secretAccessKey, sessionToken].filter((part): part is string => !!part);
  return parts.reduce((rest, part) => rest.replaceAll(part, '[redacted]'), text);
}
