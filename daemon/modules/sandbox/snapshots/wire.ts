import type { Snapshot } from '../../../../src/api/sandbox/snapshots.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { SnapshotRow } from './tables.ts';

/** A snapshot as the API answers it. */
export function toSnapshot(row: SnapshotRow): Value<typeof Snapshot> {
  return {
    id: row.id,
    name: row.name,
    imageName: row.imageName,
    state: row.state,
    size: row.sizeBytes?.toString(),
    cpu: row.cpu ?? undefined,
    mem: row.memoryMb?.toString(),
    disk: row.diskMb?.toString(),
    errorReason: row.errorReason ?? undefined,
    createdAt: rfc3339(row.createdAt),
    updatedAt: rfc3339(row.updatedAt),
    lastUsedAt: rfc3339(row.lastUsedAt),
    sourceSandboxId: row.sourceSandboxId ?? undefined,
  };
}
