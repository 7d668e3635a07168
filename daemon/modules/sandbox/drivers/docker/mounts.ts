import type { MountSettings } from 'dockerode';
import type { BoxMount } from '../driver.ts';
import { type Engine, withEngine } from './engine.ts';
import { INSTANCE_LABEL, type Names } from './names.ts';

/**
 * The folders of a box in the engine's words: each is a volume whose device is the folder. Folders below them are
 * held in places of their own already. */
export function engineMounts(names: Names, mounts: readonly BoxMount[]): MountSettings[] {
  return mounts.map((mount) => {
    const options: MountSettings['VolumeOptions'] = {
      NoCopy: true,
      Labels: { [INSTANCE_LABEL]: names.instance },
      DriverConfig: { Name: 'local', Options: { type: 'none', o: 'bind', device: mount.source } },
    };
    return {
      Type: 'volume',
      Source: names.volume(mount.source),
      Target: mount.target,
      ReadOnly: mount.readOnly ?? false,
      VolumeOptions: options,
    };
  });
}

/** Takes away the volumes of this instance that no container has; the folders that they stand for stay. */
export async function removeUnusedVolumes({ client }: Engine, { instance }: Names): Promise<void> {
  const filters = { label: [`${INSTANCE_LABEL}=${instance}`], dangling: ['true'] };
  const { Volumes: volumes } = await withEngine('', () => client.listVolumes({ filters }));
  // One that a container has got meanwhile is refused, and is to stay.
  for (const { Name: name } of volumes ?? [])
    await client
      .getVolume(name)
      .remove()
      .catch(() => {});
}
