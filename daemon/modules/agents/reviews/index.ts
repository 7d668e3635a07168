import { HOUR_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Route } from '../../../http/route.ts';
import { Expiry } from './expiry.ts';
import type { Reviews } from './face.ts';
import { reviewRoutes } from './routes.ts';
import { ReviewService } from './service.ts';
import { ReviewStore } from './store.ts';

export { hashOf } from './decision.ts';
export { policy } from './policy.ts';

const PRUNED_AT_ONCE = 100;
const PRUNE_PAUSE_MS = 10;

/** The room of reviews. */
export interface ReviewsRoom {
  readonly routes: readonly Route[];
  /** For the turn loop: it opens, finds and cancels, and cannot decide. */
  readonly reviews: Reviews;
  readonly service: ReviewService;
  /** Settles what has expired meanwhile. Listeners are to be there before. */
  start(): void;
  stop(): void;
}

/** Makes the room of reviews: calls of tools that wait for a person. */
export function createReviewsRoom(app: App): ReviewsRoom {
  const store = new ReviewStore(app.db);
  const service = new ReviewService(app, store, (expiresAt) => expiry.wakeAt(expiresAt));
  const expiry: Expiry = new Expiry(app, {
    nextDue: () => store.nextDue(),
    expireDue: () => service.expireDue(),
  });
  return {
    routes: reviewRoutes(service),
    reviews: {
      open: (review) => service.open(review),
      find: (tenant, id) => service.find(tenant, id),
      cancel: (tenant, sessionId) => service.cancel(tenant, sessionId),
      onSettled: (listener) => service.onSettled(listener),
    },
    service,
    start() {
      app.jobs.every('agent_reviews.prune', HOUR_MS, () => prune(app, store));
      expiry.start();
    },
    stop: () => expiry.stop(),
  };
}

/** Removes what was settled as long ago as sessions are kept, a batch at a time. */
async function prune({ config, clock }: App, store: ReviewStore): Promise<void> {
  const keptMs = config.get('agents.retention');
  if (keptMs === 0) return;
  while (store.prune(clock.now() - keptMs, PRUNED_AT_ONCE) === PRUNED_AT_ONCE)
    await Bun.sleep(PRUNE_PAUSE_MS);
}
