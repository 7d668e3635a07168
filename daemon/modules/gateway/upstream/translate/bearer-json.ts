import type { RelayRequest, Upstream } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { failedAnswer } from '../failed-answer.ts';
import { JSON_HEADERS, readText } from './answer.ts';

/** An answer as text. */
export interface TextAnswer {
  readonly headers: Headers;
  readonly text: string;
}

/** Calls a JSON operation with the key as a bearer. Fields that are undefined are left out. Errors: UpstreamError; cancelled. */
export async function callWithBearer(
  path: string,
  body: Partial<RelayRequest>,
  upstream: Upstream,
): Promise<TextAnswer> {
  const { account, key, fetch } = upstream;
  const headers: Record<string, string> = { ...JSON_HEADERS };
  if (key && key.secret !== '') headers.authorization = `Bearer ${key.secret}`;
  const response = await fetch(path, { headers, body: JSON.stringify(body) });
  if (!response.ok) throw await failedAnswer(response, { account, key });
  if (!/^application\/json\b/.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel();
    throw new UpstreamError(
      'server',
      `The provider ${account.name} answered with something that is not JSON.`,
    );
  }
  const text = await readText(response, upstream);
  return { headers: response.headers, text };
}
