import { embeddings } from '../../../../../src/api/gateway/embeddings.ts';
import { implement, type Route } from '../../../../http/route.ts';
import { modelCall } from '../../pipeline/call.ts';
import type { EmbeddingsSurface } from './surface.ts';

/** Embeddings. */
export function embeddingRoutes(surface: EmbeddingsSurface): Route[] {
  return implement(embeddings, {
    Embeddings: (call) => surface.create(modelCall('embeddings', call, call.body)),
  });
}
