import type { Finding, Probe } from '../driver.ts';
import { missingGuard } from './egress-guard.ts';
import { type Engine, engineMessage } from './engine.ts';
import type { Images } from './image.ts';
import type { DockerDriverOptions } from './options.ts';

const ENGINE_PACKAGES = {
  apt: ['docker.io', 'iptables'],
  dnf: ['moby-engine', 'iptables'],
  apk: ['docker', 'iptables'],
};
const NFT_PACKAGES = { apt: ['nftables'], dnf: ['nftables'], apk: ['nftables'] };
const ANSWER_MS = 5_000;
/** The first API with one-shot statistics (Docker 20.10). */
const MIN_API = 1.41;
/** The first releases of runc's lines that have the fixes of CVE-2024-21626 and of the mount races of 2025. */
const SAFE_RUNC = { old: [1, 2, 8], current: [1, 3, 3] } as const;

interface EngineInfo {
  readonly CgroupVersion?: string;
  readonly CgroupDriver?: string;
  readonly MemoryLimit?: boolean;
  readonly SwapLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
  readonly Driver?: string;
  readonly SecurityOptions?: readonly string[];
  readonly InitBinary?: string;
}

interface EngineVersion {
  readonly Version: string;
  readonly ApiVersion: string;
  readonly Components?: ReadonlyArray<{ readonly Name: string; readonly Version: string }>;
}

/** What the engine offers and lacks. Never throws. */
export async function probeEngine(
  engine: Engine,
  images: Images,
  options: DockerDriverOptions,
): Promise<Probe> {
  try {
    const [version, info, hasDefault, lacks] = await answered(
      Promise.all([
        engine.client.version() as Promise<EngineVersion>,
        engine.client.info() as Promise<EngineInfo>,
        images.hasDefault().catch(() => false),
        missingGuard(),
      ]),
    );
    const findings = [
      engineFinding(engine, version),
      runtimeFinding(version),
      cgroupFinding(info),
      storageFinding(info),
      seccompFinding(info),
      egressFinding(options, lacks),
      portsFinding(),
      imageFinding(options.defaultImage, hasDefault),
    ];
    return { usable: findings[0]?.status === 'ok', findings };
  } catch (error) {
    return { usable: false, findings: [silentFinding(engine, error)] };
  }
}

/** What the engine answers, or an error when it takes too long. */
function answered<T>(answers: Promise<T>): Promise<T> {
  const late = Bun.sleep(ANSWER_MS).then(() => {
    throw new Error(`it took longer than ${ANSWER_MS} ms`);
  });
  return Promise.race([answers, late]);
}

function silentFinding({ socketPath }: Engine, error: unknown): Finding {
  const { code } = error as { code?: string };
  const isClosed = code === 'EACCES' || code === 'EPERM';
  const why = isClosed ? 'this user may not use it (the group docker may)' : engineMessage(error);
  return {
    check: 'engine',
    status: 'missing',
    message: `No Docker engine answers at ${socketPath}: ${why}`,
    ...(isClosed ? {} : { packages: ENGINE_PACKAGES }),
  };
}

function engineFinding(
  { socketPath }: Engine,
  { Version: version, ApiVersion: api }: EngineVersion,
): Finding {
  const [major = 0, minor = 0] = api.split('.').map(Number);
  const isNewEnough = major + minor / 100 >= MIN_API;
  return {
    check: 'engine',
    status: isNewEnough ? 'ok' : 'missing',
    message: `Docker ${version}, API ${api}, at ${socketPath}${isNewEnough ? '' : `; API ${MIN_API} is needed`}`,
  };
}

function runtimeFinding({ Components: components = [] }: EngineVersion): Finding {
  const runc = components.find(({ Name: name }) => name === 'runc')?.Version;
  if (!runc) return { check: 'runtime', status: 'ok', message: 'an OCI runtime other than runc' };
  const isSafe = isSafeRunc(runc);
  const advice = `older than ${SAFE_RUNC.old.join('.')} or ${SAFE_RUNC.current.join('.')}: make sure that your distribution carried the fixes of CVE-2024-21626 and CVE-2025-31133 back`;
  return {
    check: 'runtime',
    status: isSafe ? 'ok' : 'degraded',
    message: `runc ${runc}${isSafe ? '' : `, ${advice}`}`,
  };
}

/** Whether a version of runc has the known escapes closed. */
export function isSafeRunc(version: string): boolean {
  const isOld = compareVersions(version, [1, 3, 0]) < 0;
  return compareVersions(version, isOld ? SAFE_RUNC.old : SAFE_RUNC.current) >= 0;
}

function compareVersions(version: string, other: readonly number[]): number {
  const numbers = version.split(/[^0-9]+/).map(Number);
  for (const [i, wanted] of other.entries()) {
    const difference = (numbers[i] ?? 0) - wanted;
    if (difference !== 0) return difference;
  }
  return 0;
}

function cgroupFinding(info: EngineInfo): Finding {
  const limits = {
    memory: info.MemoryLimit,
    swap: info.SwapLimit,
    cpu: info.CpuCfsQuota,
    pids: info.PidsLimit,
  };
  const absent = Object.entries(limits).filter(([, there]) => !there);
  const where = `cgroup v${info.CgroupVersion ?? '1'} (${info.CgroupDriver ?? 'unknown driver'})`;
  if (absent.length === 0) return { check: 'cgroup', status: 'ok', message: `${where}, all limits hold` };
  const names = absent.map(([name]) => name).join(', ');
  return { check: 'cgroup', status: 'degraded', message: `${where}; no limit of: ${names}` };
}

function storageFinding({ Driver: driver = 'unknown' }: EngineInfo): Finding {
  const isSlow = driver === 'vfs';
  const message = isSlow ? 'vfs: every box is a full copy of its image' : driver;
  return { check: 'storage', status: isSlow ? 'degraded' : 'ok', message };
}

function seccompFinding({ SecurityOptions: options = [] }: EngineInfo): Finding {
  const isFiltered = options.some(
    (option) => option.includes('name=seccomp') && !option.includes('unconfined'),
  );
  const names = options.map((option) => option.replace(/^name=/, '')).join('; ');
  if (isFiltered) return { check: 'seccomp', status: 'ok', message: names };
  return { check: 'seccomp', status: 'degraded', message: 'the engine filters no system calls' };
}

function egressFinding(
  { allowUnguardedNetwork: isAllowed }: DockerDriverOptions,
  lacks: string | undefined,
): Finding {
  if (!lacks)
    return { check: 'egress', status: 'ok', message: 'nftables keeps boxes from this host and its networks' };
  const what = isAllowed
    ? 'a box with a network can reach this host, its networks and metadata services, and cannot be held to a list of hosts or networks'
    : 'boxes with a network are refused; network mode deny works, whitelist and lists of networks do not';
  const packages = lacks.startsWith('nft') ? { packages: NFT_PACKAGES } : {};
  return { check: 'egress', status: 'degraded', message: `${lacks}: ${what}`, ...packages };
}

/** Whether the networks of boxes can be entered: an engine in a virtual machine is found out at the first connection. */
function portsFinding(): Finding {
  const isAble = process.platform === 'linux' && process.getuid?.() === 0;
  return isAble
    ? { check: 'ports', status: 'ok', message: 'ports of boxes can be reached' }
    : {
        check: 'ports',
        status: 'degraded',
        message: 'ports of boxes cannot be reached: that takes root on the Linux host of the engine',
      };
}

function imageFinding(defaultImage: string | undefined, isHere: boolean | undefined): Finding {
  if (defaultImage === undefined)
    return {
      check: 'image',
      status: 'degraded',
      message: 'no default image is set: each sandbox must name one',
    };
  if (isHere) return { check: 'image', status: 'ok', message: `default image ${defaultImage}` };
  return {
    check: 'image',
    status: 'degraded',
    message: `the default image ${defaultImage} is not in the engine yet`,
  };
}
