import type { sandboxWebhooks as contract } from '../../../../src/api/sandbox/webhooks.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { newSecret } from '../../../../src/kit/id.ts';
import type { App } from '../../../app.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { checkCount, checkWork, readSandboxConfig, sandboxOf } from './checks.ts';
import { required } from './cron-service.ts';
import type { Filter } from './cron-store.ts';
import type { Stores } from './runner.ts';
import type { WebhookRow } from './tables.ts';

type CreateRequest = Value<typeof contract.CreateWebhook.body>;
type UpdateRequest = Value<typeof contract.UpdateWebhook.body>;

const DEFAULT_TIMEOUT_S = 300;
const DEFAULT_RPM = 60;
const MAX_RPM = 600;
const PATH = /^[A-Za-z0-9][A-Za-z0-9._~-]{2,127}$/;

/** Makes, changes and removes webhooks. */
export class WebhookService {
  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly stores: Stores,
  ) {}

  /**
   * Makes a webhook. Its secret is shown this once; it is empty for one that takes unsigned calls.
   * Errors: invalid_argument, already_exists (its path, whoever has it), sandbox_not_found, resource_exhausted, not_built.
   */
  create(tenant: string, request: CreateRequest): { row: WebhookRow; secret: string } {
    const command = required('command', request.command);
    checkWork(request);
    const rateLimitRpm = readRate(request.rateLimitRpm);
    const path = readPath(request);
    const sandboxConfig = readSandboxConfig(request.sandboxConfig, tenant, this.app.config);
    const where = sandboxOf(this.lifecycle, tenant, request);
    checkCount(this.stores.webhooks.count(tenant), 'webhooks');
    if (this.stores.webhooks.findByPath(path))
      throw fail('already_exists', { what: 'webhook path', id: path });
    const secret = request.unsigned ? '' : newSecret();
    const now = this.app.clock.now();
    const row = this.stores.webhooks.insert({
      ...where,
      tenant,
      path,
      command,
      name: request.name ?? '',
      workDir: request.workDir ?? '',
      timeoutSeconds: request.timeoutSeconds || DEFAULT_TIMEOUT_S,
      enabled: true,
      rateLimitRpm,
      secret: secret === '' ? null : this.app.secrets.seal(tenant, sealedTo(path), secret),
      wake: request.wake ?? true,
      autoRecreate: request.autoRecreate ?? false,
      sandboxConfig,
      lastTriggeredAt: null,
      triggerCount: 0,
      errorCount: 0,
      lastError: '',
      createdAt: now,
      updatedAt: now,
    });
    return { row, secret };
  }

  /** Changes what is given. Errors: not_found, invalid_argument. */
  update(tenant: string, id: number, request: UpdateRequest): WebhookRow {
    this.get(tenant, id);
    if (request.command !== undefined) required('command', request.command);
    checkWork(request);
    const { tenantId: _, rateLimitRpm, timeoutSeconds, ...given } = request;
    const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    this.stores.webhooks.update(tenant, id, {
      ...known,
      ...(rateLimitRpm === undefined ? {} : { rateLimitRpm: readRate(rateLimitRpm) }),
      ...(timeoutSeconds === undefined ? {} : { timeoutSeconds: timeoutSeconds || DEFAULT_TIMEOUT_S }),
      updatedAt: this.app.clock.now(),
    });
    return this.get(tenant, id);
  }

  /** Removes a webhook and what waits of it; its address is unknown from then on. Errors: not_found. */
  delete(tenant: string, id: number): void {
    this.app.db.transaction(() => {
      if (!this.stores.webhooks.delete(tenant, id)) throw missing(id);
      this.stores.runs.dropWaiting(tenant, 'webhook', id);
    });
  }

  list(tenant: string, filter: Filter): { rows: WebhookRow[]; total: number } {
    return this.stores.webhooks.list(tenant, filter);
  }

  private get(tenant: string, id: number): WebhookRow {
    const row = this.stores.webhooks.find(tenant, id);
    if (!row) throw missing(id);
    return row;
  }
}

/** What the secret of a webhook is sealed to. A path never changes and is never another's. */
export function sealedTo(path: string): string {
  return `sandbox_webhooks/${path}`;
}

function readPath({ path = '', unsigned }: CreateRequest): string {
  const own = path.replace(/^\/+/, '');
  if (own === '') return newSecret();
  if (unsigned)
    throw invalid({
      field: 'path',
      description: 'cannot be chosen without signatures: it is the only secret then',
    });
  if (PATH.test(own)) return own;
  throw invalid({
    field: 'path',
    description:
      'must be 3 to 128 letters, digits, dots, dashes, tildes or underscores, beginning with a letter or digit',
  });
}

function readRate(rpm: number | undefined): number {
  if (!rpm) return DEFAULT_RPM;
  if (rpm > 0 && rpm <= MAX_RPM) return rpm;
  throw invalid({ field: 'rateLimitRpm', description: `must be between 1 and ${MAX_RPM}` });
}

function missing(id: number) {
  return fail('not_found', { what: 'webhook', id: String(id) });
}
