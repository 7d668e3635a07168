import type { Upstream } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import type { GeminiPlace } from '../gemini/chat.ts';
import { isObject, parsed } from '../translate/content.ts';

const VERSION = 'vertex-2023-10-16';

/**
 * The same upstream for the Messages dialect: the model stands in the address and not in the body, which says its version,
 * and streams have an address of their own.
 */
export function onVertex(upstream: Upstream, place: GeminiPlace): Upstream {
  return {
    ...upstream,
    key: undefined,
    async fetch(path, init = {}) {
      const body = typeof init.body === 'string' ? parsed(init.body) : undefined;
      if (!path.endsWith('/messages') || !isObject(body) || typeof body.model !== 'string')
        throw new UpstreamError('request', 'This provider has no such operation.', { status: 400 });
      const { model, ...rest } = body;
      const { 'anthropic-version': _, ...headers } = init.headers ?? {};
      return upstream.fetch(
        place.path(model as string, rest.stream === true ? 'streamRawPredict' : 'rawPredict'),
        {
          ...init,
          headers: { ...headers, ...(await place.headers()) },
          body: JSON.stringify({ anthropic_version: VERSION, ...rest }),
        },
      );
    },
  };
}
