import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, int64, object, oneOf, t, timestamp } from '../schema.ts';
import { SandboxInstance } from './lifecycle.ts';

/** A named, reusable state to start sandboxes from. Sizes are in bytes, `mem` and `disk` in MB. */
export const Snapshot = object(
  'Snapshot',
  {
    id: t.String(),
    name: t.String(),
    imageName: t.String(),
    state: oneOf('pending', 'active', 'inactive', 'error'),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  {
    size: int64(),
    entrypoint: t.Array(t.String()),
    cpu: t.Number(),
    mem: int64(),
    disk: int64(),
    errorReason: t.String(),
    lastUsedAt: timestamp(),
    sourceSandboxId: t.String(),
  },
);

const page = fields({ limit: int32({ minimum: 1 }), offset: int32({ minimum: 0 }) });

const here = { spec: 'guide', tag: 'Snapshots' } as const;

/** Named, reusable states to start sandboxes from. */
export const snapshots = {
  CreateSnapshot: endpoint({
    ...here,
    id: 'CreateSnapshot',
    method: 'POST',
    path: '/v1/snapshots',
    summary: 'Make a snapshot of an image or of a sandbox',
    body: object(
      'CreateSnapshotRequest',
      { name: t.String({ minLength: 1 }) },
      { image: t.String(), from_sandbox_id: t.String({ description: 'Id or name of a sandbox.' }) },
    ),
    response: Snapshot,
    access: 'member',
  }),
  ListSnapshots: endpoint({
    ...here,
    id: 'ListSnapshots',
    method: 'GET',
    path: '/v1/snapshots',
    summary: 'List the snapshots',
    query: page,
    response: object('ListSnapshotsResponse', { snapshots: t.Array(Snapshot), total: int32() }),
    access: 'viewer',
  }),
  GetSnapshot: endpoint({
    ...here,
    id: 'GetSnapshot',
    method: 'GET',
    path: '/v1/snapshots/{snapshotId}',
    summary: 'Get a snapshot',
    params: ids('snapshotId'),
    response: Snapshot,
    access: 'viewer',
  }),
  DeleteSnapshot: endpoint({
    ...here,
    id: 'DeleteSnapshot',
    method: 'DELETE',
    path: '/v1/snapshots/{snapshotId}',
    summary: 'Delete a snapshot',
    params: ids('snapshotId'),
    response: object('DeleteSnapshotResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
  ForkSandbox: endpoint({
    spec: 'extra',
    tag: 'Sandboxes',
    id: 'ForkSandbox',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/fork',
    summary: 'Make running copies of a sandbox with its files: all of them, or none',
    params: ids('sandboxId'),
    body: object(
      'ForkSandboxRequest',
      {},
      {
        count: int32({ minimum: 1, maximum: 32, description: 'How many; 1 when absent.' }),
        name: t.String({ description: 'Name of the copy; several are called name-1, name-2 and so on.' }),
        labels: t.Record(t.String(), t.String(), { description: 'In place of those of the sandbox.' }),
      },
    ),
    response: object('ForkSandboxResponse', { instances: t.Array(SandboxInstance) }),
    access: 'member',
  }),
} satisfies Group;
