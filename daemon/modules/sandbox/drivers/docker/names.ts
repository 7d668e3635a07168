import { invalid } from '../../../../../src/errors/app-error.ts';

/** Labels on every container and network of ours; they are what `list` goes by. */
export const INSTANCE_LABEL = 'svc.instance';
export const SANDBOX_LABEL = 'svc.sandbox';
export const IMAGE_LABEL = 'svc.image';

/** The names that an instance gives to things of the engine. */
export interface Names {
  readonly instance: string;
  /** Container of a box. Errors: invalid_argument (id). */
  container(id: string): string;
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
