import { fail } from '../../../../src/errors/app-error.ts';
import type { FeaturesValue } from '../../settings/index.ts';
import type { ModelCall } from './call.ts';

/** Refuses what a tenant has switched off. Errors: feature_off naming the switch. */
export function checkFeatures(features: FeaturesValue, { surface, request }: ModelCall): void {
  const streams = request.stream === true;
  if (streams && !features.enableStreaming) throw off('enableStreaming', 'streaming');
  if (streams && !features.enableSse) throw off('enableSse', 'streaming by server-sent events');
  if (surface === 'embeddings' && !features.enableEmbeddings) throw off('enableEmbeddings', 'embeddings');
  if (hasTools(request) && !features.enableFunctionCalling)
    throw off('enableFunctionCalling', 'calling functions');
}

function hasTools(request: ModelCall['request']): boolean {
  const { tools, functions } = request as { tools?: unknown; functions?: unknown };
  return [tools, functions].some((list) => Array.isArray(list) && list.length > 0);
}

function off(name: string, what: string) {
  return fail('feature_off', { name, what });
}
