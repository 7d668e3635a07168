import type { Room, RoomContext } from '../room.ts';
import { ObjectStores } from './service.ts';

/** Buckets of object stores as folders of sandboxes. */
export function createObjectStoresRoom({ app, driver, events, lifecycle }: RoomContext): Room {
  const stores = new ObjectStores({ app, driver, events, sandboxes: lifecycle.store });
  lifecycle.ingredients.add(stores);
  return {
    routes: [],
    async start() {
      await stores.reconcile();
      app.bus.on('sandbox.event', ({ tenant, sandboxId, type }) => {
        if (type !== 'stopped' && type !== 'failed') return;
        // A box that ended by itself: nobody who stops it has let go.
        void stores
          .letGoOfEnded(tenant, sandboxId)
          ?.catch((error) => app.log.warn('a mount could not be ended', { sandbox: sandboxId, error }));
      });
    },
    stop: () => stores.stop(),
  };
}
