import type { StorageMount } from '../../../../src/api/sandbox/lifecycle.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { type FieldViolation, fail, invalid } from '../../../../src/errors/app-error.ts';
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
 * Checks the mounts of a request. Object stores are refused before anything is made: this instance has nothing
 * that mounts them. Errors: invalid_argument naming the field, not_configured.
 */
export function checkedMounts(mounts: readonly Value<typeof StorageMount>[]): CheckedMount[] {
  const [first, ...rest] = violations(mounts);
  if (first) throw invalid(first, ...rest);
  const store = mounts.find(({ type }) => type !== 'svc-volume');
  if (store)
    throw fail('not_configured', {
      message: `Mounts of type ${store.type} cannot be made by this instance. Use a volume (svc-volume), or the store's own client inside the sandbox.`,
    });
  return mounts.map(({ bucket = '', mountPath = '', subpath }) => ({
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
