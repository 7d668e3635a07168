import type { ContainerCreateOptions } from 'dockerode';
import type { BoxSpec, Limits } from '../driver.ts';
import { seccompFilter } from '../host/seccomp.ts';
import { BOX_NAME_SERVER } from '../network/resolvers.ts';
import { CALL_PATH } from '../programs/call-program.ts';
import { engineMounts } from './mounts.ts';
import { IMAGE_LABEL, INSTANCE_LABEL, type Names, SANDBOX_LABEL } from './names.ts';
import { EXCHANGE, SCRIPTS } from './scripts.ts';

const MIB = 1024 * 1024;
const NANO = 1e9;
const MIN_MEMORY_MB = 6;
/** When the host runs out of memory, its kernel looks here first. */
const OOM_SCORE = 500;

/**
 * What root in a box may do: own files, change users, signal, listen on low ports: the same set as in the
 * namespace driver. Other users have nothing.
 */
export const CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETUID',
  'SYS_CHROOT',
] as const;

/** What matters of the machine that the engine runs on. */
export interface EngineHost {
  readonly cores: number;
  /** Whether it can filter system calls; where it cannot, a filter would be refused. */
  readonly filtersCalls: boolean;
}

/** Known to the engine since 20.10, and not to the types of its client. */
const OWN_CGROUP_VIEW = { CgroupnsMode: 'private' };

/** Limits in the engine's words; the same at creation and for an update. @param cores how many the engine has */
export function engineLimits({ cpu, memoryMb, pids }: Limits, cores: number) {
  const memory = Math.round(Math.max(memoryMb, MIN_MEMORY_MB) * MIB);
  return {
    NanoCpus: Math.round(Math.min(cpu, cores) * NANO),
    Memory: memory,
    MemorySwap: memory,
    PidsLimit: pids,
  };
}

/** Everything that differs between boxes. */
export interface ContainerParts {
  readonly names: Names;
  readonly spec: BoxSpec;
  /** Exact identity of the image. */
  readonly imageId: string;
  readonly workDir: string;
  readonly network: string;
  /** Questions for names are answered by the forwarder, whoever is asked. */
  readonly isGuarded: boolean;
  /** The exchange folder on the host. */
  readonly exchange: string;
  /** The call program on the host. */
  readonly callProgram: string;
  readonly host: EngineHost;
}

/** The container of a box. Its first process only prepares and sleeps; commands are execs. */
export function containerConfig(parts: ContainerParts): ContainerCreateOptions {
  const { names, spec, imageId, workDir } = parts;
  return {
    name: names.container(spec.id),
    Image: imageId,
    Hostname: 'sandbox',
    User: '0:0',
    WorkingDir: '/',
    Entrypoint: ['/bin/sh', '-c', SCRIPTS.init, 'svc-init'],
    Cmd: [workDir],
    Tty: false,
    OpenStdin: false,
    AttachStdout: true,
    AttachStderr: true,
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGTERM',
    Labels: {
      [INSTANCE_LABEL]: names.instance,
      [SANDBOX_LABEL]: spec.id,
      [IMAGE_LABEL]: spec.image,
    },
    HostConfig: hostConfig(parts),
  };
}

function hostConfig({
  names,
  spec,
  network,
  exchange,
  callProgram,
  host,
  isGuarded,
}: ContainerParts): ContainerCreateOptions['HostConfig'] {
  return {
    ...engineLimits(spec.limits, host.cores),
    Init: true,
    Privileged: false,
    CapDrop: ['ALL'],
    CapAdd: [...CAPABILITIES],
    SecurityOpt: [
      'no-new-privileges:true',
      ...(host.filtersCalls ? [`seccomp=${JSON.stringify(seccompFilter())}`] : []),
    ],
    NetworkMode: network,
    ...(isGuarded ? { Dns: [BOX_NAME_SERVER] } : {}),
    IpcMode: 'private',
    ...OWN_CGROUP_VIEW,
    Binds: [`${exchange}:${EXCHANGE}:rw,Z`, `${callProgram}:${CALL_PATH}:ro,Z`],
    Mounts: engineMounts(names, spec.mounts ?? []),
    LogConfig: { Type: 'none', Config: {} },
    RestartPolicy: { Name: 'no' },
    OomScoreAdj: OOM_SCORE,
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
  };
}
