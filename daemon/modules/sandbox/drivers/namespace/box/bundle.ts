import type { Limits } from '../../driver.ts';
import { hasCapability } from '../../host/capabilities.ts';
import { type Groups, limitsForRuntime } from '../../host/control-groups.ts';
import { seccompFilter } from '../../host/seccomp.ts';
import type { IdRange } from '../../host/user-namespace.ts';
import type { Bind } from './binds.ts';
import { INIT_PATH } from './init-program.ts';
import { initProcessSpec } from './process-spec.ts';

/** Files of /proc and /sys that tell about the host or steer it; inside they are empty. */
const MASKED = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/cmdline',
  '/proc/config.gz',
  '/proc/interrupts',
  '/proc/kallsyms',
  '/proc/kcore',
  '/proc/keys',
  '/proc/key-users',
  '/proc/kmsg',
  '/proc/kpagecgroup',
  '/proc/kpagecount',
  '/proc/kpageflags',
  '/proc/latency_stats',
  '/proc/modules',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/slabinfo',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/vmallocinfo',
  '/sys/devices/virtual/dmi',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
  '/sys/fs/bpf',
  '/sys/fs/pstore',
  '/sys/kernel/debug',
  '/sys/kernel/security',
  '/sys/kernel/tracing',
  '/sys/module',
];

const READ_ONLY = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** What the configuration of a box depends on. */
export interface BundleSpec {
  /** Where the root is mounted when the runtime starts; only the runtime's own mount namespace has it. */
  readonly rootPath: string;
  readonly cgroupPath: string;
  readonly limits: Limits;
  /** The file of the host that is /etc/resolv.conf inside. Everybody on the host may read it. */
  readonly resolvConf: string;
  /** Folders of the host. */
  readonly binds: readonly Bind[];
  readonly groups: Groups;
  readonly range: IdRange;
}

/** The configuration of a box for an OCI runtime (config.md and config-linux.md of its specification). */
export function bundleConfig(spec: BundleSpec): Record<string, unknown> {
  const { base, size } = spec.range;
  const ids = [{ containerID: 0, hostID: base, size }];
  return {
    ociVersion: '1.0.2',
    process: initProcessSpec(INIT_PATH),
    root: { path: spec.rootPath },
    hostname: 'sandbox',
    mounts: [
      ...mounts(),
      resolver(spec.resolvConf),
      ...(spec.groups.layout === 'v2' ? [CGROUP_MOUNT] : []),
      ...spec.binds.map(bindMount),
    ],
    linux: {
      cgroupsPath: spec.cgroupPath,
      uidMappings: ids,
      gidMappings: ids,
      namespaces: ['pid', 'mount', 'ipc', 'uts', 'user', 'network', 'cgroup'].map((type) => ({ type })),
      resources: { ...devices(spec.groups), ...limitsForRuntime(spec.groups, spec.limits) },
      seccomp: seccompFilter(),
      sysctl: {
        // Only loopback speaks IPv6: the way out is filtered for IPv4.
        'net.ipv6.conf.default.disable_ipv6': '1',
        'net.ipv4.ping_group_range': `0 ${size - 1}`,
        'net.ipv4.ip_unprivileged_port_start': '0',
      },
      maskedPaths: MASKED,
      readonlyPaths: READ_ONLY,
    },
  };
}

/**
 * Devices are refused three times: no file system of a box opens any, its user namespace makes none, and its
 * control group forbids them. With cgroup v2 the last is a program for which crun raises a limit: it is left out
 * where the daemon may not do that.
 */
function devices({ layout }: Groups): Record<string, unknown> {
  if (layout === 'v2' && !hasCapability('CAP_SYS_RESOURCE')) return {};
  return { devices: [{ allow: false, access: 'rwm' }] };
}

/** Read-only, and only where it is one cheap mount: programs read their limits from it. */
const CGROUP_MOUNT = mount('/sys/fs/cgroup', 'cgroup', ['nosuid', 'noexec', 'nodev', 'ro']);

function mounts(): unknown[] {
  const quiet = ['nosuid', 'noexec', 'nodev'];
  return [
    mount('/proc', 'proc', quiet),
    mount('/dev', 'tmpfs', ['nosuid', 'strictatime', 'mode=755', 'size=65536k']),
    mount('/dev/pts', 'devpts', ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5']),
    mount('/dev/shm', 'tmpfs', [...quiet, 'mode=1777', 'size=65536k']),
    mount('/dev/mqueue', 'mqueue', quiet),
    mount('/sys', 'sysfs', [...quiet, 'ro']),
    mount('/tmp', 'tmpfs', ['nosuid', 'nodev', 'mode=1777']),
  ];
}

/** Mounted by the runtime, which stays inside the root: a box that starts again may have put links in the way. */
function resolver(source: string): unknown {
  const options = ['bind', 'ro', 'nosuid', 'nodev', 'noexec'];
  return { destination: '/etc/resolv.conf', type: 'bind', source, options };
}

/** Neither set-id programs nor devices work in it. */
function bindMount({ target, source, readOnly }: Bind): unknown {
  const options = ['bind', readOnly ? 'ro' : 'rw', 'nosuid', 'nodev'];
  return { destination: target, type: 'bind', source, options };
}

function mount(destination: string, type: string, options: string[]): unknown {
  return { destination, type, source: type, options };
}
