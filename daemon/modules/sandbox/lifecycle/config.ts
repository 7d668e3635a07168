import type { CreateSandboxRequest } from '../../../../src/api/sandbox/lifecycle.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { type FieldViolation, fail, invalid } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { Config } from '../../../config/config.ts';
import type { NetworkPolicy } from '../drivers/driver.ts';
import { snapshotOf } from '../drivers/snapshot-reference.ts';
import { resolvePolicy } from '../network/policy-request.ts';
import type { StoreMount } from '../object-stores/mounts.ts';
import { findTemplate } from '../templates/catalog.ts';
import type { VolumeMount } from '../volumes/mounts.ts';
import { badGitUrl, type GitSource, isBranch } from './git.ts';

/** The body of a create request. */
export type CreateRequest = Value<typeof CreateSandboxRequest>;

/** What a sandbox is made of, with every default filled in. Kept with its row, so that it can be made again. */
export interface SandboxConfig {
  readonly image: string;
  readonly templateId?: string;
  readonly cpu: number;
  readonly memoryMb: number;
  /** What it may have on the disk; absent without a limit. */
  readonly diskMb?: number;
  readonly env: Readonly<Record<string, string>>;
  readonly network: NetworkPolicy;
  /** Lifetime from each start in milliseconds; 0 is for ever. */
  readonly timeoutMs: number;
  /** Milliseconds without use after which it sleeps; 0 is never. */
  readonly idleMs: number;
  readonly autoArchiveAfterDays: number;
  readonly autoDeleteAfterDays: number;
  readonly sshEnabled: boolean;
  /** A request to one of its ports wakes it when it sleeps. */
  readonly wakeOnRequest?: boolean;
  /** The snapshot that `image` names. */
  readonly snapshotId?: string;
  /** The volumes and buckets that it has inside. */
  readonly mounts?: readonly (VolumeMount | StoreMount)[];
  /** What was cloned into it when it was made. */
  readonly git?: GitSource;
}

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/;
const ENV_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const MAX_LABELS = 64;
const MOST_DISK_MB = 16 * 1024 * 1024;
const MAX_TEXT = 4096;

/** Fields that a request may carry but that this instance cannot honour yet. They are refused, never ignored. */
const UNBUILT_FIELDS = ['gitInstallationId', 'privateNetworkAuthKey', 'computerUse'] as const;

/** The configuration that a request asks for. Errors: invalid_argument naming the field, template_not_found, not_built. */
export function resolveConfig(request: CreateRequest, config: Config): SandboxConfig {
  refuseUnbuilt(request);
  const template = request.templateId ? findTemplate(request.templateId) : undefined;
  const resolved: SandboxConfig = {
    image: request.image || template?.image || config.get('sandbox.default_image'),
    templateId: template?.slug,
    cpu: request.cpuLimit || template?.cpu || config.get('sandbox.cpu'),
    memoryMb: Number(request.memoryMb ?? 0) || template?.memoryMb || config.get('sandbox.memory_mb'),
    diskMb: Number(request.diskMb ?? 0) || undefined,
    env: { ...template?.env, ...request.envVars },
    network: resolvePolicy(request, config.get('outbound.allow')),
    timeoutMs:
      request.timeoutSeconds === undefined
        ? config.get('sandbox.timeout')
        : request.timeoutSeconds * SECOND_MS,
    idleMs: (request.idleRetentionSeconds ?? 0) * SECOND_MS,
    autoArchiveAfterDays: request.autoArchiveAfterDays ?? 7,
    autoDeleteAfterDays: request.autoDeleteAfterDays ?? -1,
    sshEnabled: request.sshEnabled ?? false,
    ...(request.wakeOnRequest ? { wakeOnRequest: true } : {}),
    git: gitSource(request),
  };
  check(request, resolved, config);
  return resolved;
}

function check(request: CreateRequest, resolved: SandboxConfig, config: Config): void {
  const [first, ...rest] = [
    ...checkNames(request, resolved),
    ...checkGit(request),
    ...checkLimits(resolved, config),
  ];
  if (first) throw invalid(first, ...rest);
}

/** What is wrong with the cores and the memory that a sandbox is to have. */
export function checkLimits(
  { cpu, memoryMb, diskMb }: Pick<SandboxConfig, 'cpu' | 'memoryMb' | 'diskMb'>,
  config: Config,
): FieldViolation[] {
  return [
    ...checkRange('cpuLimit', cpu, 0.05, config.get('sandbox.max_cpu')),
    ...checkRange('memoryMb', memoryMb, 16, config.get('sandbox.max_memory_mb')),
    ...(diskMb === undefined ? [] : checkRange('diskMb', diskMb, 1, MOST_DISK_MB)),
  ];
}

function gitSource({ gitRepoUrl: url, gitBranch: branch }: CreateRequest): GitSource | undefined {
  return url ? { url, ...(branch ? { branch } : {}) } : undefined;
}

function* checkGit({ gitRepoUrl: url, gitBranch: branch }: CreateRequest): Iterable<FieldViolation> {
  const bad = url ? badGitUrl(url) : undefined;
  if (bad) yield { field: 'gitRepoUrl', description: bad };
  if (branch && !isBranch(branch)) yield { field: 'gitBranch', description: 'is not a name of a branch' };
  if (branch && !url) yield { field: 'gitRepoUrl', description: 'is required with gitBranch' };
}

function* checkNames(request: CreateRequest, resolved: SandboxConfig): Iterable<FieldViolation> {
  if (request.name && !NAME.test(request.name)) {
    yield {
      field: 'name',
      description:
        'must be 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit',
    };
  }
  if (/^sbx_/.test(request.name ?? ''))
    yield { field: 'name', description: 'must not begin with sbx_, which marks ids' };
  const bad = Object.keys(resolved.env).find((name) => !ENV_NAME.test(name));
  if (bad !== undefined)
    yield { field: `envVars.${bad}`, description: 'is not a name of an environment variable' };
  const nul = Object.entries(resolved.env).find(([, value]) => value.includes('\0'));
  if (nul) yield { field: `envVars.${nul[0]}`, description: 'must not hold a NUL byte' };
  const labels = Object.entries(request.labels ?? {});
  if (labels.length > MAX_LABELS) yield { field: 'labels', description: `must be at most ${MAX_LABELS}` };
  const long = labels.find(([name, value]) => name === '' || name.length > 256 || value.length > MAX_TEXT);
  if (long)
    yield {
      field: `labels.${long[0]}`,
      description: 'must have a name of 1 to 256 and a value of at most 4096 characters',
    };
  if (snapshotOf(resolved.image) !== undefined)
    yield { field: 'image', description: 'names a snapshot; use snapshotId' };
  if (/[\s\0]/.test(resolved.image)) yield { field: 'image', description: 'is not an image reference' };
}

function* checkRange(field: string, value: number, least: number, most: number): Iterable<FieldViolation> {
  if (!(value >= least && value <= most))
    yield { field, description: `must be between ${least} and ${most}` };
}

function refuseUnbuilt(request: CreateRequest): void {
  const field = UNBUILT_FIELDS.find((name) => isGiven(request[name]));
  if (field) throw fail('not_built', { operation: `CreateSandbox with ${field}` });
}

function isGiven(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== '' &&
    value !== false &&
    value !== '0' &&
    !(Array.isArray(value) && value.length === 0)
  );
}
