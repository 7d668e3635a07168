import { statfs } from 'node:fs/promises';
import { formatBytes, GIB } from '../../../../../src/kit/bytes.ts';
import type { Finding, Probe } from '../driver.ts';
import { hasCapability } from '../host/capabilities.ts';
import { findGroups, type Groups, missingControllers } from '../host/control-groups.ts';
import { exists, readText } from '../host/files.ts';
import { findProgram, run } from '../host/run.ts';
import { findRuntime, knownWeakness, type Runtime } from '../host/runtime.ts';
import { foreignDrops } from '../network/firewall.ts';
import { hostNameServers } from '../network/resolvers.ts';
import type { Host } from './box/host.ts';

const RUNTIME_PACKAGES = { apt: ['crun'], dnf: ['crun'], apk: ['crun'] };
const NETWORK_PACKAGES = {
  apt: ['nftables', 'iproute2'],
  dnf: ['nftables', 'iproute'],
  apk: ['nftables', 'iproute2'],
};
const TOOL_PACKAGES = {
  apt: ['util-linux', 'mount', 'tar', 'findutils'],
  dnf: ['util-linux', 'tar', 'findutils'],
  apk: ['util-linux', 'tar', 'findutils'],
};
const TOOLS = ['unshare', 'nsenter', 'mount', 'umount', 'tar', 'find', 'rm'];
const LOW_DISK_BYTES = 2 * GIB;
const FORWARD_NOW_AND_AT_BOOT =
  'echo 1 >/proc/sys/net/ipv4/ip_forward && mkdir -p /etc/sysctl.d && echo net.ipv4.ip_forward=1 >/etc/sysctl.d/60-svc.conf';
/** Linux 5.19: overlay layers may be idmapped mounts. */
const IDMAP_OVERLAY = [5, 19];

/** Why the driver cannot work here at all; undefined when it can, as far as that is known without trying. */
export function whyUnusable(instance: string): string | undefined {
  if (process.platform !== 'linux') return 'The namespace driver needs Linux.';
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,31}$/.test(instance))
    return `${JSON.stringify(instance)} is no name of an instance.`;
  if (process.getuid?.() !== 0)
    return 'The namespace driver needs root: boxes get a range of user ids, control groups with limits and a network of their own, which this user may not make.';
  if (!hasCapability('CAP_SYS_ADMIN'))
    return 'The capability CAP_SYS_ADMIN is missing: this root may not mount or make namespaces.';
  const tools = TOOLS.filter((name) => !findProgram(name));
  return tools.length > 0 ? `Not installed: ${tools.join(', ')}.` : undefined;
}

/** Looks at the host: what boxes are made of here, what is missing, what is weaker than it could be. */
export async function probeHost(
  host: Pick<Host, 'instance'> & ({ readonly dataDir: string } | Host),
  reason?: string,
): Promise<Probe> {
  const known = 'runtime' in host ? host : undefined;
  const dataDir = 'dataDir' in host ? host.dataDir : host.layout.dataDir;
  const runtime = known?.runtime ?? (await findRuntime());
  const groups = known?.groups ?? (await findGroups('/nonexistent').catch(() => undefined));
  const findings: Finding[] = [
    privilegeFinding(reason),
    runtimeFinding(runtime),
    toolFinding(),
    fileFinding(
      'overlay',
      (readText('/proc/filesystems') ?? '').includes('overlay') || (await canLoadOverlay()),
    ),
    fileFinding(
      'userns',
      exists('/proc/self/ns/user') && readText('/proc/sys/user/max_user_namespaces')?.trim() !== '0',
    ),
    idmapFinding(),
    groupFinding(groups),
    fileFinding('seccomp', /^Seccomp:/m.test(readText('/proc/self/status') ?? '')),
    ...networkFindings(known),
    ...(await firewallFindings(known)),
    await diskFinding(dataDir),
    {
      check: 'disk_limit',
      status: 'degraded',
      message:
        'disk_mb is observed, not enforced: the file system of the boxes has no limit for each of them.',
    },
  ];
  return { usable: reason === undefined && findings.every(({ status }) => status !== 'missing'), findings };
}

function privilegeFinding(reason: string | undefined): Finding {
  if (reason) return { check: 'privileges', status: 'missing', message: reason };
  return { check: 'privileges', status: 'ok', message: 'root, may mount and make namespaces' };
}

function runtimeFinding(runtime: Runtime | undefined): Finding {
  const check = 'runtime';
  if (!runtime)
    return {
      check,
      status: 'missing',
      message: 'neither crun nor runc is installed',
      packages: RUNTIME_PACKAGES,
    };
  const weakness = knownWeakness(runtime);
  if (weakness) return { check, status: 'degraded', message: weakness, packages: RUNTIME_PACKAGES };
  return { check, status: 'ok', message: `${runtime.name} ${runtime.version} (${runtime.path})` };
}

function toolFinding(): Finding {
  const check = 'tools';
  const missing = TOOLS.filter((name) => !findProgram(name));
  if (missing.length === 0) return { check, status: 'ok', message: TOOLS.join(', ') };
  return {
    check,
    status: 'missing',
    message: `not installed: ${missing.join(', ')}`,
    packages: TOOL_PACKAGES,
  };
}

function fileFinding(check: string, present: boolean): Finding {
  return present
    ? { check, status: 'ok', message: 'the kernel has it' }
    : { check, status: 'missing', message: 'this kernel does not have it, or does not allow it' };
}

async function canLoadOverlay(): Promise<boolean> {
  return run(['modprobe', 'overlay']).then(
    () => true,
    () => false,
  );
}

function idmapFinding(): Finding {
  const check = 'idmap';
  const release = readText('/proc/sys/kernel/osrelease')?.trim() ?? '0';
  const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10));
  const [wantedMajor = 0, wantedMinor = 0] = IDMAP_OVERLAY;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor))
    return { check, status: 'ok', message: `Linux ${release}` };
  const lost = `Linux ${release} cannot shift the owners of overlay layers: in boxes of the image host, /usr belongs to nobody and root cannot install into it`;
  return { check, status: 'degraded', message: lost };
}

function groupFinding(groups: Groups | undefined): Finding {
  const check = 'cgroup';
  if (!groups) return { check, status: 'missing', message: 'no control groups are mounted' };
  const missing = missingControllers(groups);
  const kind = groups.layout === 'v2' ? 'v2' : groups.hybrid ? 'v1 beside v2 (hybrid)' : 'v1';
  if (missing.length > 0)
    return { check, status: 'degraded', message: `${kind}: no limits of ${missing.join(', ')} can be set` };
  return { check, status: 'ok', message: `${kind} with cpu, memory and pids` };
}

function networkFindings(host: Host | undefined): Finding[] {
  const missing = ['nft', 'ip', 'nsenter'].filter((name) => !findProgram(name));
  const forward = readText('/proc/sys/net/ipv4/ip_forward')?.trim() === '1';
  const servers = hostNameServers().map(({ hostname }) => hostname);
  const degraded = (check: string, message: string): Finding => ({ check, status: 'degraded', message });
  return [
    missing.length === 0
      ? {
          check: 'nftables',
          status: 'ok',
          message: host ? `table inet ${host.network.table}` : 'nft and ip are here',
        }
      : {
          ...degraded('nftables', `not installed: ${missing.join(', ')}; boxes have no network`),
          packages: NETWORK_PACKAGES,
        },
    exists('/proc/self/ns/net')
      ? {
          check: 'netns',
          status: 'ok',
          message: host ? `bridge ${host.network.bridge}` : 'the kernel has it',
        }
      : { check: 'netns', status: 'missing', message: 'this kernel has no network namespaces' },
    forward
      ? { check: 'ip_forward', status: 'ok', message: 'net.ipv4.ip_forward is 1' }
      : {
          ...degraded(
            'ip_forward',
            'net.ipv4.ip_forward is 0: boxes have no network. Turn it on: sysctl -w net.ipv4.ip_forward=1',
          ),
          commands: [['sh', '-c', FORWARD_NOW_AND_AT_BOOT]],
        },
    servers.length > 0
      ? { check: 'dns', status: 'ok', message: `names are asked of ${servers.join(', ')}` }
      : degraded('dns', '/etc/resolv.conf names no name server: boxes cannot look up names'),
  ];
}

/** A chain that accepts does not overrule one that drops: where another program filters, boxes depend on it. */
async function firewallFindings(host: Host | undefined): Promise<Finding[]> {
  const bridge = host?.network.bridge ?? '<bridge>';
  const drops = await foreignDrops(host?.network.table ?? '');
  const findings: Finding[] = [];
  if (drops.input.length > 0) {
    const port = host?.network.dnsPort() ?? 'of the forwarder';
    const message = `${drops.input.join(', ')} drops packets to this host: boxes look up no names until it accepts UDP and TCP from ${bridge} to port ${port}`;
    findings.push({ check: 'firewall', status: 'degraded', message });
  }
  if (drops.forward.length === 0) return findings;
  const message = `${drops.forward.join(', ')} drops forwarded packets: boxes reach nothing until it accepts those from and to ${bridge} (with Docker: iptables -I DOCKER-USER -i ${bridge} -j ACCEPT, and the same with -o)`;
  return [...findings, { check: 'firewall', status: 'degraded', message }];
}

async function diskFinding(dataDir: string): Promise<Finding> {
  const check = 'disk';
  try {
    const { bavail, bsize } = await statfs(dataDir);
    const free = bavail * bsize;
    const message = `${formatBytes(free)} free at ${dataDir}`;
    return { check, status: free < LOW_DISK_BYTES ? 'degraded' : 'ok', message };
  } catch {
    return { check, status: 'degraded', message: `${dataDir} cannot be looked at` };
  }
}
