import type { Upstream } from '../adapter.ts';
import { failedAnswer } from '../failed-answer.ts';
import { JSON_HEADERS } from '../translate/answer.ts';

/** Calls a path of the API; POST when there is a body. Errors: UpstreamError for every answer that is no success; cancelled. */
export async function callCohere(upstream: Upstream, path: string, body?: object): Promise<Response> {
  const { key } = upstream;
  const headers = { ...JSON_HEADERS, ...(key ? { authorization: `Bearer ${key.secret}` } : {}) };
  const response = await upstream.fetch(path, { headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  if (!response.ok) throw await failedAnswer(response, upstream);
  return response;
}
