import { DEFAULT_BODY_LIMIT, type Endpoint } from '../../src/api/endpoint.ts';
import { fail } from '../../src/errors/app-error.ts';
import { parseNested } from '../../src/kit/nesting.ts';

/** The largest body that any operation takes (bulk upload, spec Limits), with room for its framing. */
export const LARGEST_BODY = 257 * 1024 * 1024;

/**
 * Reads a JSON body up to the operation's limit. An empty body is an empty object.
 * Errors: body_too_large, unsupported_media_type, malformed_body.
 */
export async function readJson(request: Request, endpoint: Endpoint): Promise<unknown> {
  const limit = endpoint.bodyLimit ?? DEFAULT_BODY_LIMIT;
  if (declaredLength(request) > limit) throw fail('body_too_large', { limit });
  const text = await readText(request, limit);
  if (text.trim() === '') return {};
  checkType(request);
  try {
    return parseNested(text);
  } catch (error) {
    throw fail('malformed_body', {
      message: `The body is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`,
    });
  }
}

/** Content-Length as a number; 0 when the body is chunked. */
export function declaredLength(request: Request): number {
  return Number(request.headers.get('content-length') ?? 0);
}

async function readText(request: Request, limit: number): Promise<string> {
  // Asking for `body` makes a stream of bytes that are there already, which costs more than reading them.
  if (request.headers.has('content-length')) return request.text();
  if (!request.body) return '';
  const decoder = new TextDecoder();
  let read = 0;
  let text = '';
  for await (const chunk of request.body) {
    read += chunk.byteLength;
    if (read > limit) throw fail('body_too_large', { limit });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function checkType(request: Request): void {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) throw fail('unsupported_media_type', { got: type });
}
