import { invalid } from '../../../../../src/errors/app-error.ts';

/** Labels on every container and network of ours; they are what `list` goes by. */
export const INSTANCE_LABEL = 'svc.instance';
export const SANDBOX_LABEL = 'svc.sandbox';
export const IMAGE_LABEL = 'svc.image';
/** On images of boxes: what the box was made of, as JSON. */
export const BASE_LABEL = 'svc.base';

/** The names that an instance gives to things of the engine. */
export interface Names {
  readonly instance: string;
  /** Container of a box. Errors: invalid_argument (id). */
  container(id: string): string;
  /** Volume that stands for a folder of the host. */
  volume(folder: string): string;
  /** Image of a snapshot; the common beginning of all of them for an empty id. */
  snapshot(snapshotId: string): string;
  /** The beginning of the names of images that wait for their last box to go. */
  readonly retired: string;
  /** The beginning of the names of images that are being packed. */
  readonly packing: string;
  readonly network: string;
  /** Interface of the network on the host; at most 15 characters. */
  readonly bridge: string;
  /** nftables table that guards the network. */
  readonly table: string;
}

/** Names for an instance. Errors: invalid_argument. */
export function namesOf(instance: string): Names {
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(instance))
    throw invalid({ field: 'instance', description: 'must be 1 to 32 of a-z, 0-9 and -' });
  const short = Bun.hash.crc32(instance).toString(16).padStart(8, '0');
  return {
    instance,
    container: (id) => {
      checkId('id', id);
      return `svc-${instance}-${id}`;
    },
    volume: (folder) =>
      `svc-${instance}-${new Bun.CryptoHasher('sha256').update(folder).digest('hex').slice(0, 32)}`,
    snapshot: (snapshotId) => {
      if (snapshotId !== '') checkId('snapshotId', snapshotId);
      return `svc-snapshot:${instance}.${snapshotId}`;
    },
    retired: `svc-retired:${instance}.`,
    packing: `svc-packing:${instance}.`,
    network: `svc-${instance}`,
    bridge: `svcd${short}`,
    table: `svc_docker_${short}`,
  };
}

/** Refuses an id that could not be a file name and a container name. Errors: invalid_argument. */
export function checkId(field: string, id: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id))
    throw invalid({ field, description: 'must be 1 to 64 of letters, digits, _ and -' });
}
