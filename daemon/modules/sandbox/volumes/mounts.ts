import type { StorageMount } from '../../../../src/api/sandbox/lifecycle.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { type FieldViolation, invalid } from '../../../../src/errors/app-error.ts';
import { badSubpath, badTarget, conflict } from '../drivers/mount-target.ts';

/** Mounts of one sandbox. */
const MOST_MOUNTS = 16;

/** A volume in a sandbox, as it is kept with its configuration. */
export interface VolumeMount {
  readonly type: 'svc-volume';
  readonly volumeId: string;
  /** The volume as the request named it. */
  readonly bucket: string;
  readonly mountPath: string;
  readonly subpath?: string;
}

/** A mount as a request has it, with nothing missing and nothing that no host could do. */
export interface CheckedMount {
  readonly bucket: string;
  readonly mountPath: string;
  readonly subpath?: string;
}

/**
 * Checks the mounts of a request, of every kind, and gives those of volumes.
 * Errors: invalid_argument naming the field.
 */
export function checkedMounts(mounts: readonly Value<typeof StorageMount>[]): CheckedMount[] {
  const [first, ...rest] = violations(mounts);
  if (first) throw invalid(first, ...rest);
  const volumes = mounts.filter(({ type }) => type === 'svc-volume');
  return volumes.map(({ bucket = '', mountPath = '', subpath }) => ({
    bucket,
    mountPath,
    ...(subpath ? { subpath } : {}),
  }));
}

function* violations(mounts: readonly Value<typeof StorageMount>[]): Generator<FieldViolation> {
  if (mounts.length > MOST_MOUNTS) yield { field: 'mounts', description: `must be at most ${MOST_MOUNTS}` };
  for (const [i, { type, bucket, mountPath, subpath, endpoint }] of mounts.entries()) {
    const field = `mounts.${i}`;
    if (!type) yield { field: `${field}.type`, description: 'is required' };
    if (!bucket) yield { field: `${field}.bucket`, description: 'is required' };
    const badPlace = badTarget(mountPath ?? '');
    if (badPlace) yield { field: `${field}.mountPath`, description: badPlace };
    const badFolder = subpath ? badSubpath(subpath) : undefined;
    if (badFolder) yield { field: `${field}.subpath`, description: badFolder };
    if (type === 'svc-volume' && endpoint)
      yield { field: `${field}.endpoint`, description: 'belongs to object stores; a volume has none' };
  }
  const both = conflict(mounts.map(({ mountPath = '' }) => mountPath));
  if (both) yield { field: 'mounts', description: `${both.join(' and ')} lie in each other` };
}
