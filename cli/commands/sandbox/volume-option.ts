import { InvalidArgumentError } from 'commander';

/** A volume of a sandbox that is made. */
export interface VolumeOption {
  readonly type: 'svc-volume';
  readonly bucket: string;
  readonly mountPath: string;
  readonly subpath?: string;
}

/** Collects `NAME[/FOLDER]:/PATH` options that may be repeated. */
export function volumes(text: string, earlier: readonly VolumeOption[] = []): VolumeOption[] {
  const [, bucket, subpath, mountPath] = /^([^/:]+)(?:\/([^:]+))?:(\/.*)$/.exec(text) ?? [];
  if (!bucket || !mountPath)
    throw new InvalidArgumentError('It must have the form NAME:/path, or NAME/folder:/path.');
  return [...earlier, { type: 'svc-volume', bucket, mountPath, ...(subpath ? { subpath } : {}) }];
}
