import { GuardrailConfig } from '../../../../src/api/gateway/guardrails.ts';
import { AppError, fail, invalid } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import { validator } from '../../../http/validate.ts';
import { canonical, keyOf } from '../cache/request-key.ts';
import { type GivenGuardrails, type GuardrailSettings, settingsOf } from './config.ts';
import type { GuardrailStore } from './store.ts';

/** The guardrails of a tenant. */
export interface GuardrailsInForce {
  readonly settings: GuardrailSettings;
  readonly given: GivenGuardrails;
  /** 1 when the tenant has changed nothing. */
  readonly version: number;
  readonly updatedAt: number | undefined;
  /** The same for the same settings, at every start; empty while they are off. */
  readonly policy: string;
}

/** What tenants want of guardrails: in memory for requests, in the database for the next start. */
export class GuardrailService {
  private readonly tenants = new Map<string, GuardrailsInForce>();
  private readonly untouched: GuardrailsInForce;

  /** `instance` is what the owner's configuration says. */
  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit'>,
    private readonly store: GuardrailStore,
    private readonly instance: GivenGuardrails,
  ) {
    this.untouched = this.inForce({}, 1, undefined);
    for (const { tenant, given, version, updatedAt } of store.all())
      this.tenants.set(tenant, this.inForce(given, version, updatedAt));
  }

  of(tenant: string): GuardrailsInForce {
    return this.tenants.get(tenant) ?? this.untouched;
  }

  /** Replaces what a tenant has given. Errors: invalid_argument naming the field; stale_version. */
  replace({ tenant, actor }: Caller, given: GivenGuardrails, version?: number): GuardrailsInForce {
    const current = this.of(tenant).version;
    if (version && version !== current)
      throw fail('stale_version', { what: 'The guardrails', given: version, current });
    refuseReserved(given, 'config.');
    const changed = this.inForce(given, current + 1, this.app.clock.now());
    this.app.db.transaction(() => {
      this.store.put(tenant, { given, version: current + 1, updatedAt: this.app.clock.now() });
      const details = { version: current + 1, enabled: changed.settings.enabled };
      this.app.audit.record({ tenant, actor, action: 'guardrails.update', target: 'guardrails', details });
    });
    this.tenants.set(tenant, changed);
    return changed;
  }

  private inForce(given: GivenGuardrails, version: number, updatedAt: number | undefined): GuardrailsInForce {
    const settings = settingsOf(this.instance, given);
    const policy = settings.enabled ? keyOf(canonical(settings)).proof : '';
    return { settings, given, version, updatedAt, policy };
  }
}

/** What the configuration of the instance says of guardrails. Errors: invalid_argument naming the setting. */
export function readInstance(config: Pick<App['config'], 'get'>): GivenGuardrails {
  const said = {
    enabled: config.get('guardrails.enabled'),
    templates: config.get('guardrails.templates'),
    inputGuardrails: config.get('guardrails.input_guardrails'),
    outputGuardrails: config.get('guardrails.output_guardrails'),
  };
  try {
    const given = validator(GuardrailConfig, 'native').check(said) as GivenGuardrails;
    refuseReserved(given, '');
    return given;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [{ field, description } = { field: '', description: 'cannot be read' }] = error.violations;
    const setting = field
      .replace('inputGuardrails', 'input_guardrails')
      .replace('outputGuardrails', 'output_guardrails');
    throw invalid({ field: `guardrails.${setting}`, description });
  }
}

function refuseReserved({ outputGuardrails }: GivenGuardrails, path: string): void {
  if (outputGuardrails?.hallucination?.enabled)
    throw invalid({
      field: `${path}outputGuardrails.hallucination.enabled`,
      description: 'is reserved; there is no such guardrail yet, so it must be false',
    });
}
