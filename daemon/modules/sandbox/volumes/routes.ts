import { volumes } from '../../../../src/api/sandbox/volumes.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { VolumeService } from './service.ts';
import { toVolume } from './wire.ts';

/** The operations on volumes. */
export function volumeRoutes(service: VolumeService): Route[] {
  return implement(volumes, {
    CreateVolume: async ({ caller, body }) => toVolume(await service.create(caller.tenant, body.name)),
    ListVolumes: ({ caller, query }) => {
      const { rows, total } = service.list(caller.tenant, pageOf(query));
      return { volumes: rows.map(toVolume), total };
    },
    DeleteVolume: ({ caller, params }) => {
      service.remove(caller.tenant, params.volumeId);
      return { success: true, message: 'The volume is being deleted.' };
    },
  });
}
