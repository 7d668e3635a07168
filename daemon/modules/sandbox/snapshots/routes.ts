import { snapshots } from '../../../../src/api/sandbox/snapshots.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import { implement, type Route } from '../../../http/route.ts';
import { toInstance } from '../lifecycle/wire.ts';
import type { ForkService } from './fork.ts';
import type { SnapshotService } from './service.ts';
import { toSnapshot } from './wire.ts';

/** The operations on snapshots, and forking. */
export function snapshotRoutes(service: SnapshotService, forks: ForkService): Route[] {
  return implement(snapshots, {
    CreateSnapshot: ({ caller, body: { name, image, from_sandbox_id: sandbox } }) =>
      toSnapshot(service.create(caller.tenant, { name, image, sandbox })),
    ListSnapshots: ({ caller, query }) => {
      const { rows, total } = service.list(caller.tenant, pageOf(query));
      return { snapshots: rows.map(toSnapshot), total };
    },
    GetSnapshot: ({ caller, params }) => toSnapshot(service.get(caller.tenant, params.snapshotId)),
    DeleteSnapshot: async ({ caller, params }) => {
      await service.remove(caller.tenant, params.snapshotId);
      return { success: true, message: 'The snapshot is deleted.' };
    },
    ForkSandbox: async ({ caller, params, body: { count = 1, name, labels } }) => {
      const made = await forks.fork(caller, params.sandboxId, { count, name, labels });
      return { instances: made.map(toInstance) };
    },
  });
}
