import type { Room, RoomContext } from '../room.ts';
import { Dispatcher } from './dispatcher.ts';
import { Outbox } from './outbox.ts';
import { lifecycleWebhookRoutes } from './routes.ts';
import { LifecycleWebhookService } from './service.ts';
import { LifecycleWebhookStore } from './store.ts';

/** Tells endpoints what happens to sandboxes. */
export function createLifecycleWebhookRoom({ app, lifecycle, events }: RoomContext): Room {
  const store = new LifecycleWebhookStore(app.db);
  const dispatcher = new Dispatcher(app, store);
  const outbox = new Outbox(lifecycle.store, store, (endpointId) => dispatcher.expect(endpointId));
  events.witness(outbox.witness);
  return {
    routes: lifecycleWebhookRoutes(new LifecycleWebhookService(app, store, dispatcher)),
    start: () => dispatcher.start(),
    stop: () => dispatcher.stop(),
  };
}
