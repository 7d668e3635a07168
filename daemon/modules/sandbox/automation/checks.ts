import { CreateSandboxRequest } from '../../../../src/api/sandbox/lifecycle.ts';
import { AppError, type FieldViolation, fail, invalid } from '../../../../src/errors/app-error.ts';
import type { Config } from '../../../config/config.ts';
import { validator } from '../../../http/validate.ts';
import { type CreateRequest, resolveConfig } from '../lifecycle/config.ts';
import type { LifecycleService } from '../lifecycle/service.ts';

/** Most crons, and most webhooks, of one tenant. */
export const MOST_OF_TENANT = 100;

const MAX_NAME = 128;
const MAX_COMMAND = 65_536;
const MAX_TIMEOUT_S = 86_400;

const sandboxRequest = validator(CreateSandboxRequest, 'native');

/** What a request says about a command and its sandbox. */
export interface WorkRequest {
  readonly sandboxId?: string;
  readonly sessionId?: string;
  readonly name?: string;
  readonly command?: string;
  readonly workDir?: string;
  readonly timeoutSeconds?: number;
  readonly autoRecreate?: boolean;
  readonly sandboxConfig?: Readonly<Record<string, unknown>>;
}

/** Refuses what is wrong with a command. Errors: invalid_argument naming each wrong field. */
export function checkWork(request: WorkRequest): void {
  const [first, ...rest] = violations(request);
  if (first) throw invalid(first, ...rest);
}

function* violations({ name, command, workDir, timeoutSeconds }: WorkRequest): Iterable<FieldViolation> {
  if (command !== undefined && command.trim() === '') yield { field: 'command', description: 'is required' };
  if (command?.includes('\0')) yield { field: 'command', description: 'must not hold a NUL byte' };
  if ((command?.length ?? 0) > MAX_COMMAND)
    yield { field: 'command', description: `must be at most ${MAX_COMMAND} characters` };
  if (name?.includes('\0') || (name?.length ?? 0) > MAX_NAME)
    yield { field: 'name', description: `must be at most ${MAX_NAME} characters, without a NUL byte` };
  if (workDir && (!workDir.startsWith('/') || workDir.includes('\0')))
    yield { field: 'workDir', description: 'must be an absolute path' };
  if (timeoutSeconds !== undefined && (timeoutSeconds < 0 || timeoutSeconds > MAX_TIMEOUT_S))
    yield { field: 'timeoutSeconds', description: `must be between 1 and ${MAX_TIMEOUT_S}` };
}

/** The sandbox that a request names, and its session; both empty when the first run is to make one. */
export function sandboxOf(
  lifecycle: LifecycleService,
  tenant: string,
  request: WorkRequest,
): { sandboxId: string; sessionId: string } {
  const named = request.sandboxId || request.sessionId;
  if (named) {
    const { id, sessionId } = lifecycle.get(tenant, named);
    return { sandboxId: id, sessionId };
  }
  if (request.autoRecreate && hasFields(request.sandboxConfig)) return { sandboxId: '', sessionId: '' };
  throw invalid({
    field: 'sandboxId',
    description: 'is required, or autoRecreate with a sandboxConfig to make one from',
  });
}

/**
 * A `sandboxConfig` by the rules that making a sandbox has; null when it says nothing.
 * Errors: invalid_argument naming `sandboxConfig.<field>`, not_built.
 */
export function readSandboxConfig(
  value: WorkRequest['sandboxConfig'],
  tenant: string,
  config: Config,
): CreateRequest | null {
  if (!hasFields(value)) return null;
  try {
    const { tenantId, ...request } = sandboxRequest.check(value) as CreateRequest;
    if (tenantId && tenantId !== tenant)
      throw invalid({ field: 'tenantId', description: 'is not the tenant of the credential' });
    resolveConfig(request, config);
    return request;
  } catch (error) {
    throw asInner(error);
  }
}

/** Errors: resource_exhausted. */
export function checkCount(count: number, what: string): void {
  if (count < MOST_OF_TENANT) return;
  throw fail('resource_exhausted', {
    message: `There are ${MOST_OF_TENANT} ${what} already. Remove one first.`,
  });
}

function hasFields(value: WorkRequest['sandboxConfig']): boolean {
  return value !== undefined && Object.keys(value).length > 0;
}

function asInner(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  if (error.code === 'template_not_found')
    return invalid({ field: 'sandboxConfig.templateId', description: 'is not the id of a template' });
  const [first, ...rest] = error.violations.map(({ field, description }) => ({
    field: `sandboxConfig.${field}`,
    description,
  }));
  return first ? invalid(first, ...rest) : error;
}
