import type { ImageStore } from '../../../images/index.ts';
import type { Groups } from '../../host/control-groups.ts';
import type { HostLog } from '../../host/log.ts';
import type { Runtime } from '../../host/runtime.ts';
import type { IdRange } from '../../host/user-namespace.ts';
import type { Network } from '../../network/network.ts';
import type { Layout } from './paths.ts';

/** This host as the driver uses it. Found once, when the driver is made. */
export interface Host {
  readonly instance: string;
  readonly layout: Layout;
  readonly runtime: Runtime;
  readonly groups: Groups;
  readonly range: IdRange;
  readonly images: ImageStore;
  readonly network: Network;
  /** What lives as long as the host is up: resolver files, the host's folders with shifted owners. */
  readonly runDir: string;
  /** An empty folder of the host that everybody may enter; inside the runtime's mount namespace it is the root. */
  readonly rootPath: string;
  readonly log: HostLog;
}

/** The control group of a box, below every root. */
export function boxGroup(host: Pick<Host, 'instance'>, containerId: string): string {
  return `/svc-${host.instance}/${containerId}`;
}

/**
 * The control group of the box's commands in the cgroup2 tree. With v1 controllers it stands beside the group
 * of the box: the runtime moves what it starts into the latter, in every tree where it finds it.
 */
export function commandGroup(host: Pick<Host, 'instance' | 'groups'>, containerId: string): string {
  return host.groups.layout === 'v2'
    ? boxGroup(host, containerId)
    : `/svc-${host.instance}-commands/${containerId}`;
}
