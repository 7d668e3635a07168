import { join } from 'node:path';
import type { App } from '../../../app.ts';
import type { Route } from '../../../http/route.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { audioRoutes } from './audio/routes.ts';
import { AudioSurface } from './audio/surface.ts';
import { completionRoutes } from './completions/routes.ts';
import { CompletionsSurface } from './completions/surface.ts';
import { embeddingRoutes } from './embeddings/routes.ts';
import { EmbeddingsSurface } from './embeddings/surface.ts';
import { imageRoutes } from './images/routes.ts';
import { ImagesSurface } from './images/surface.ts';
import { moderationRoutes } from './moderations/routes.ts';
import { ModerationsSurface } from './moderations/surface.ts';
import { rerankRoutes } from './rerank/routes.ts';
import { RerankSurface } from './rerank/surface.ts';

/** The surfaces whose answers pass as they are: texts, vectors, pictures, sound, moderation and reranking. */
export function otherSurfaceRoutes({ config }: Pick<App, 'config'>, pipeline: Pipeline): Route[] {
  const uploads = () => join(config.dataDir, 'uploads');
  return [
    ...completionRoutes(new CompletionsSurface(pipeline)),
    ...embeddingRoutes(new EmbeddingsSurface(pipeline)),
    ...moderationRoutes(new ModerationsSurface(pipeline)),
    ...imageRoutes(new ImagesSurface(pipeline), uploads),
    ...audioRoutes(new AudioSurface(pipeline), uploads),
    ...rerankRoutes(new RerankSurface(pipeline)),
  ];
}
