import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, object, oneOf, t, timestamp } from '../schema.ts';

/** Storage that outlives sandboxes; several of them can mount it at once. */
export const Volume = object(
  'Volume',
  {
    id: t.String(),
    name: t.String(),
    state: oneOf('creating', 'ready', 'deleting', 'error'),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { lastUsedAt: timestamp(), errorReason: t.String() },
);

const page = fields({ limit: int32({ minimum: 1 }), offset: int32({ minimum: 0 }) });

const here = { spec: 'guide', tag: 'Volumes' } as const;

/** Storage that outlives sandboxes and is shared by them. */
export const volumes = {
  CreateVolume: endpoint({
    ...here,
    id: 'CreateVolume',
    method: 'POST',
    path: '/v1/volumes',
    summary: 'Make a volume',
    body: object('CreateVolumeRequest', { name: t.String({ minLength: 1 }) }),
    response: Volume,
    access: 'member',
  }),
  ListVolumes: endpoint({
    ...here,
    id: 'ListVolumes',
    method: 'GET',
    path: '/v1/volumes',
    summary: 'List the volumes',
    query: page,
    response: object('ListVolumesResponse', { volumes: t.Array(Volume), total: int32() }),
    access: 'viewer',
  }),
  DeleteVolume: endpoint({
    ...here,
    id: 'DeleteVolume',
    method: 'DELETE',
    path: '/v1/volumes/{volumeId}',
    summary: 'Delete a volume and what is in it',
    params: ids('volumeId'),
    response: object('DeleteVolumeResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
} satisfies Group;
