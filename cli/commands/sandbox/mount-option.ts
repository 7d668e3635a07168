import { InvalidArgumentError } from 'commander';

/** The bucket of an object store in a sandbox that is made. */
export interface MountOption {
  readonly type: (typeof TYPES)[number];
  readonly bucket: string;
  readonly mountPath: string;
  readonly subpath?: string;
  readonly endpoint?: string;
}

const TYPES = ['s3', 'r2', 'gcs', 'azure'] as const;
const NAMES = ['type', 'bucket', 'path', 'subpath', 'endpoint'];
const FORM = 'It must have the form type=s3,bucket=NAME,path=/path[,subpath=FOLDER][,endpoint=URL]';

/** Collects `type=s3,bucket=NAME,path=/path` options that may be repeated. */
export function objectMounts(text: string, earlier: readonly MountOption[] = []): MountOption[] {
  const parts = new Map<string, string>();
  for (const part of text.split(',')) {
    const [, name = '', value = ''] = /^([a-z]+)=(.+)$/.exec(part) ?? [];
    if (!NAMES.includes(name) || parts.has(name)) throw new InvalidArgumentError(`${FORM}.`);
    parts.set(name, value);
  }
  const [wanted, bucket, mountPath] = ['type', 'bucket', 'path'].map((name) => parts.get(name));
  const type = TYPES.find((one) => one === wanted);
  if (!type) throw new InvalidArgumentError(`${FORM}; the type is one of ${TYPES.join(', ')}.`);
  if (!bucket || !mountPath) throw new InvalidArgumentError(`${FORM}.`);
  const [subpath, endpoint] = [parts.get('subpath'), parts.get('endpoint')];
  return [
    ...earlier,
    { type, bucket, mountPath, ...(subpath ? { subpath } : {}), ...(endpoint ? { endpoint } : {}) },
  ];
}
