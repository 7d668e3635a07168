import { HOUR_MS } from '../../../../../src/kit/time.ts';
import type { App } from '../../../../app.ts';
import { ArtifactService } from './service.ts';
import { ArtifactStore } from './store.ts';

export { capped, MOST_RESULT_BYTES } from './capped.ts';
export { artifactRoutes } from './routes.ts';
export { ARTIFACT_LIMITS, ArtifactService } from './service.ts';
export { artifactTools } from './tools.ts';

/** The artifacts of sessions, kept within bounds from now on. */
export function createArtifacts({ db, clock, jobs }: App): ArtifactService {
  const store = new ArtifactStore(db);
  store.removeIncomplete();
  const artifacts = new ArtifactService(db, store, clock);
  jobs.every('agents.artifacts.prune', HOUR_MS, () => artifacts.prune());
  return artifacts;
}
