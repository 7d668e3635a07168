import { HOUR_MS } from '../../../../src/kit/time.ts';
import type { Room, RoomContext } from '../room.ts';
import { ForkService } from './fork.ts';
import { snapshotRoutes } from './routes.ts';
import { MAKE_JOB, SnapshotService } from './service.ts';
import { SnapshotStore } from './store.ts';

/** Snapshots, and forks of sandboxes. */
export function createSnapshotsRoom({ app, driver, lifecycle }: RoomContext): Room {
  const service = new SnapshotService(app, driver, lifecycle, new SnapshotStore(app.db));
  const forks = new ForkService(app, driver, lifecycle);
  lifecycle.ingredients.add(service);
  /** An engine may finish what a daemon had asked for that is gone, so this is looked after more than once. */
  const tidy = () => service.removeUnknown(forks.underWay);
  return {
    routes: snapshotRoutes(service, forks),
    async start() {
      service.settleInterrupted();
      await tidy().catch((error) => app.log.warn('snapshots could not be compared with the host', { error }));
      app.jobs.handle(MAKE_JOB, ({ snapshotId }, { tenant }) =>
        service.make(tenant ?? '', String(snapshotId)),
      );
      app.jobs.every('snapshot.tidy', HOUR_MS, async () => {
        service.deactivateUnused();
        await tidy();
      });
    },
  };
}
