import { readFileSync } from 'node:fs';
import { invalid } from '../../../../../../src/errors/app-error.ts';
import type { ExecSpec } from '../../driver.ts';
import { BOX_UID } from '../../host/user-namespace.ts';

/** A process in the words of the OCI runtime specification (config.md, Process). */
export interface ProcessSpec {
  readonly user: { readonly uid: number; readonly gid: number; readonly umask?: number };
  readonly args: readonly string[];
  readonly env: readonly string[];
  readonly cwd: string;
  readonly capabilities: Readonly<Record<string, readonly string[]>>;
  readonly rlimits: ReadonlyArray<{ readonly type: string; readonly hard: number; readonly soft: number }>;
  readonly noNewPrivileges: true;
  readonly oomScoreAdj: number;
}

/**
 * What root has inside: enough to own files, change users and listen on low ports. Not: raw sockets, devices,
 * tracing the audit log, or anything that reaches the host's tables. Other users have nothing.
 */
const ROOT_CAPABILITIES = [
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_KILL',
  'CAP_NET_BIND_SERVICE',
  'CAP_SETFCAP',
  'CAP_SETGID',
  'CAP_SETUID',
  'CAP_SYS_CHROOT',
];

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** When the host runs out of memory, its kernel looks here first. */
const OOM_SCORE = 500;
const WANTED_LIMITS: Readonly<Record<string, [string, number]>> = {
  RLIMIT_NOFILE: ['Max open files', 65_536],
  RLIMIT_CORE: ['Max core file size', 0],
};

/** The environment and the directory that commands of a box start from. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  readonly workDir: string;
}

/** The process of a command: the whole of it, because `exec` of a runtime inherits only a part from the box. */
export function processSpec(around: Surroundings, spec: ExecSpec, onTerminal = false): ProcessSpec {
  const uid = spec.uid ?? BOX_UID;
  const gid = spec.gid ?? (spec.uid === undefined ? BOX_UID : uid);
  const env = {
    PATH,
    LANG: 'C.UTF-8',
    ...(onTerminal && { TERM: 'xterm-256color' }),
    ...(uid === 0 && { HOME: '/root', USER: 'root' }),
    ...(uid === BOX_UID && { HOME: '/home/svc', USER: 'svc' }),
    ...around.env,
    ...spec.env,
  };
  refuseNul({ argv: spec.argv, cwd: [spec.cwd ?? ''], env: Object.entries(env).flat() });
  return {
    user: { uid, gid, umask: 0o022 },
    args: spec.argv,
    env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    cwd: spec.cwd ?? around.workDir,
    capabilities: capabilitiesOf(uid),
    rlimits: rlimits(),
    noNewPrivileges: true,
    oomScoreAdj: OOM_SCORE,
  };
}

/** A NUL would cut a word short on its way through the runtime. Errors: invalid_argument. */
function refuseNul(fields: Readonly<Record<string, readonly string[]>>): void {
  for (const [field, words] of Object.entries(fields))
    if (words.some((word) => word.includes('\0')))
      throw invalid({ field, description: 'may not contain a NUL character' });
}

/** The first process of a box: root inside by number, without a single capability. */
export function initProcessSpec(path: string): ProcessSpec {
  return {
    user: { uid: 0, gid: 0 },
    args: [path],
    env: [],
    cwd: '/',
    capabilities: capabilitiesOf(BOX_UID),
    rlimits: rlimits(),
    noNewPrivileges: true,
    oomScoreAdj: OOM_SCORE,
  };
}

function capabilitiesOf(uid: number): ProcessSpec['capabilities'] {
  const granted = uid === 0 ? ROOT_CAPABILITIES : [];
  return { bounding: granted, effective: granted, permitted: granted, inheritable: [], ambient: [] };
}

/** The wanted limits, as far as the daemon's own allow: it may lack the right to raise them. */
function rlimits(): ProcessSpec['rlimits'] {
  const table = readFileSync('/proc/self/limits', 'utf8');
  return Object.entries(WANTED_LIMITS).map(([type, [label, wanted]]) => {
    const hard = Number(new RegExp(`^${label}\\s+\\S+\\s+(\\d+)`, 'm').exec(table)?.[1] ?? wanted);
    const value = Math.min(wanted, hard);
    return { type, hard: value, soft: value };
  });
}
