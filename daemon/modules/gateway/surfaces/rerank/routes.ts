import { rerank } from '../../../../../src/api/gateway/rerank.ts';
import { implement, type Route } from '../../../../http/route.ts';
import { modelCall } from '../../pipeline/call.ts';
import { rerankRequest } from './request.ts';
import type { RerankSurface } from './surface.ts';

/** Reranking. */
export function rerankRoutes(surface: RerankSurface): Route[] {
  return implement(rerank, {
    Rerank: (call) => surface.rank(modelCall('rerank', call, rerankRequest(call.body)), call.headers),
  });
}
