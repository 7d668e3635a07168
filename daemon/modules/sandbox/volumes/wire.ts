import type { Volume } from '../../../../src/api/sandbox/volumes.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { VolumeRow } from './tables.ts';

/** A volume as the API answers it. */
export function toVolume(row: VolumeRow): Value<typeof Volume> {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    createdAt: rfc3339(row.createdAt),
    updatedAt: rfc3339(row.updatedAt),
    lastUsedAt: rfc3339(row.lastUsedAt),
    errorReason: row.errorReason ?? undefined,
  };
}
