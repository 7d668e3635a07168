import type { Room, RoomContext } from '../room.ts';
import { volumeRoutes } from './routes.ts';
import { DELETE_JOB, VolumeService } from './service.ts';
import { VolumeStore } from './store.ts';

/** Storage that outlives sandboxes and is shared by them. */
export function createVolumesRoom({ app, lifecycle }: RoomContext): Room {
  const service = new VolumeService(app, new VolumeStore(app.db));
  lifecycle.ingredients.add(service);
  return {
    routes: volumeRoutes(service),
    async start() {
      await service.reconcile();
      app.jobs.handle(DELETE_JOB, ({ volumeId }, { tenant }) =>
        service.finishRemoval(tenant ?? '', String(volumeId)),
      );
    },
  };
}
