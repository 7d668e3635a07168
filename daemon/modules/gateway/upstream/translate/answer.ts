import type { Upstream } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { failedCall } from '../open.ts';
import { parsed } from './content.ts';

/** Headers of every JSON call: bodies come uncompressed, because they are read here. */
export const JSON_HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'content-type': 'application/json',
} as const;

const MOST_BYTES = 128 * 1024 * 1024;

/** Reads an answer that is a success. Errors: UpstreamError of kind server when it is no JSON or too long; network, timeout; cancelled. */
export async function readJson(response: Response, upstream: Upstream): Promise<unknown> {
  return parseJson(await readText(response, upstream), upstream.account.name);
}

/** The text of an answer, up to 128 MiB. Errors: UpstreamError of kind server when it is longer; network, timeout; cancelled. */
export async function readText(response: Response, { account, signal }: Upstream): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    if (Number(response.headers.get('content-length') ?? Number.NaN) <= MOST_BYTES)
      return await response.text();
    for await (const piece of response.body ?? []) {
      bytes += piece.byteLength;
      if (bytes > MOST_BYTES) throw new UpstreamError('server', `The answer of ${account.name} is too long.`);
      text += decoder.decode(piece, { stream: true });
    }
  } catch (error) {
    throw failedCall(error, account.name, signal);
  }
  return text + decoder.decode();
}

/** An object or a list out of JSON. Errors: UpstreamError of kind server when it is none. */
export function parseJson(text: string, provider: string): unknown {
  const value = parsed(text);
  if (typeof value === 'object' && value !== null) return value;
  throw new UpstreamError('server', `The provider ${provider} answered with something that is not JSON.`);
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
