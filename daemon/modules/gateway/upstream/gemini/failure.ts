import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { Upstream } from '../adapter.ts';
import { type FailureDetails, UpstreamError } from '../error.ts';
import { failedAnswer, kindOf } from '../failed-answer.ts';
import { errorText } from '../translate/answer.ts';
import { isObject, parsed } from '../translate/content.ts';
import type { GeminiError } from './wire.ts';

/** Reads an answer that is no success: google.rpc.Status, alone or in an array. */
export async function geminiFailure(response: Response, upstream: Upstream): Promise<UpstreamError> {
  const text = await errorText(response);
  const error = errorIn(parsed(text));
  const headers = new Headers(response.headers);
  const wait = error && retryDelayMs(error);
  if (wait) headers.set('retry-after-ms', String(wait));
  const status = error && refusesKey(error) ? 401 : response.status;
  return failedAnswer(new Response(text, { status, headers }), upstream);
}

/** The error that comes among the events of a stream. */
export function statusError(error: GeminiError, provider: string): UpstreamError {
  const { code = 500, message = 'it gave no reason', status } = error;
  const details: FailureDetails = { status: code, type: status, retryAfterMs: retryDelayMs(error) };
  return new UpstreamError(
    kindOf(code),
    `The provider ${provider} broke its answer off: ${message}`,
    details,
  );
}

function errorIn(body: unknown): GeminiError | undefined {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return isObject(first) && isObject(first.error) ? (first.error as GeminiError) : undefined;
}

/** RetryInfo, as `"13s"` or `"0.5s"` (google.rpc.RetryInfo, JSON form of Duration). */
function retryDelayMs({ details = [] }: GeminiError): number | undefined {
  const info = detailsOf(details).find((detail) => String(detail['@type']).endsWith('google.rpc.RetryInfo'));
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(String(info?.retryDelay))?.[1];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * SECOND_MS);
}

/** A key that is not valid is answered with 400, as if the request were wrong. */
function refusesKey({ details = [] }: GeminiError): boolean {
  return detailsOf(details).some(
    ({ reason }) => reason === 'API_KEY_INVALID' || reason === 'API_KEY_EXPIRED',
  );
}

function detailsOf(details: unknown): Record<string, unknown>[] {
  return Array.isArray(details) ? details.filter(isObject) : [];
}
