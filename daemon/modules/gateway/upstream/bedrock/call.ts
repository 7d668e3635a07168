import type { Upstream } from '../adapter.ts';
import { JSON_HEADERS } from '../translate/answer.ts';
import { segmentOf } from '../translate/path.ts';
import { signedHeaders } from './access.ts';
import { bedrockFailure } from './failure.ts';

/** Calls an operation of a model with a signature. Errors: UpstreamError for every answer that is no success; cancelled. */
export async function callModel(
  upstream: Upstream,
  model: string,
  operation: string,
  body: unknown,
): Promise<Response> {
  return signedCall(upstream, `/model/${segmentOf(model)}/${operation}`, JSON.stringify(body));
}

/** Calls a path, or a whole URL, with a signature; POST when there is a body. Errors as callModel. */
export async function signedCall(upstream: Upstream, path: string, body?: string): Promise<Response> {
  const url = path.startsWith('/') ? upstream.account.baseUrl + path : path;
  const accept = path.endsWith('-stream') ? 'application/vnd.amazon.eventstream' : JSON_HEADERS.accept;
  const method = body === undefined ? 'GET' : 'POST';
  const headers = await signedHeaders(upstream, { url, method, headers: { ...JSON_HEADERS, accept }, body });
  const response = await upstream.fetch(path, { method, headers, body });
  if (!response.ok) throw await bedrockFailure(response, upstream);
  return response;
}
