import type { Upstream } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { failedCall } from '../open.ts';

/** Headers of every JSON call: bodies come uncompressed, because they are read here. */
export const JSON_HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'content-type': 'application/json',
} as const;

/** Reads an answer that is a success. Errors: UpstreamError of kind server when it is no JSON object; network, timeout; cancelled. */
export async function readJson(response: Response, { account, signal }: Upstream): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    throw failedCall(error, account.name, signal);
  });
  return parseJson(text, account.name);
}

/** Errors: UpstreamError of kind server when it is no JSON. */
export function parseJson(text: string, provider: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UpstreamError('server', `The provider ${provider} answered with something that is not JSON.`);
  }
}

/** The text of an error's body, cut at 64 KiB. Never fails. */
export async function errorText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > 65_536) break;
    }
  } catch {
    // What has come of an error's words is enough.
  }
  return text;
}

/** Headers that the caller gets of an answer that was translated. */
export function answerHeaders(upstream: Headers, contentType: string): Headers {
  const headers = new Headers({ 'content-type': contentType });
  const id = REQUEST_ID_HEADERS.map((name) => upstream.get(name)).find((value) => value !== null);
  if (id) headers.set('x-upstream-request-id', id);
  return headers;
}

const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-amzn-requestid', 'x-goog-request-id'];
