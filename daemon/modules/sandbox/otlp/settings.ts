import type { OtlpSettings } from '../../../../src/api/sandbox/otlp.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { type FieldViolation, invalid } from '../../../../src/errors/app-error.ts';
import { maskKey } from '../../../../src/kit/redact.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Destination, Receivers } from '../../../otlp/destination.ts';
import { checkEndpoint, checkHeaders, checkLabels } from './check.ts';
import { OtlpStore } from './store.ts';
import type { OtlpRow } from './tables.ts';

type Wire = Value<typeof OtlpSettings>;
type Map = Readonly<Record<string, string>>;

/** The row that headers are sealed to. */
const SEALED_AS = 'otlp.headers';

/** Where tenants' figures go: kept sealed, shown masked. */
export class OtlpSettingsService implements Receivers {
  private readonly store: OtlpStore;
  private readonly listeners: Array<(tenant: string) => void> = [];

  constructor(private readonly app: App) {
    this.store = new OtlpStore(app.db);
  }

  /** Tells a listener whose settings were changed. */
  onChange(listener: (tenant: string) => void): void {
    this.listeners.push(listener);
  }

  /** The settings, the values of headers masked. */
  get(tenant: string): Wire {
    const row = this.store.find(tenant);
    if (!row) return { endpoint: '', headers: {}, extra_labels: {}, enabled: false };
    const masked = Object.entries(this.open(row)).map(([name, value]) => [name, maskKey(value)]);
    return {
      endpoint: row.endpoint,
      headers: Object.fromEntries(masked),
      extra_labels: { ...row.extraLabels },
      enabled: row.enabled,
    };
  }

  /** Changes the settings; what is absent stays as it is. Errors: invalid_argument naming each wrong field. */
  update({ tenant, actor }: Caller, wanted: Wire): Wire {
    const old = this.store.find(tenant);
    const endpoint = wanted.endpoint ?? old?.endpoint ?? '';
    const enabled = wanted.enabled ?? old?.enabled ?? false;
    const extraLabels = wanted.extra_labels ?? old?.extraLabels ?? {};
    const kept = old ? this.open(old) : {};
    const moved = old !== undefined && originOf(old.endpoint) !== originOf(endpoint);
    const { headers, violations } = merge(wanted.headers, kept, moved);
    const [first, ...rest] = [
      ...checkEndpoint(endpoint),
      ...(enabled && endpoint === ''
        ? [{ field: 'endpoint', description: 'is required to be enabled' }]
        : []),
      ...violations,
      ...checkHeaders(headers),
      ...checkLabels(extraLabels),
    ];
    if (first) throw invalid(first, ...rest);
    const sealed = this.app.secrets.seal(tenant, SEALED_AS, JSON.stringify(headers));
    const updatedAt = this.app.clock.now();
    const details = { endpoint, enabled, headers: Object.keys(headers) };
    this.app.db.transaction(() => {
      this.store.put({ tenant, endpoint, headers: sealed, extraLabels, enabled, updatedAt });
      this.app.audit.record({ tenant, actor, action: 'otlp.update', target: 'otlp', details });
    });
    for (const listener of this.listeners) listener(tenant);
    return this.get(tenant);
  }

  /** Where the tenant's figures go, whether that is switched on or not; undefined when no endpoint is set. */
  destination(tenant: string): (Destination & { readonly enabled: boolean }) | undefined {
    const row = this.store.find(tenant);
    if (!row?.endpoint) return undefined;
    return {
      endpoint: row.endpoint,
      headers: this.open(row),
      labels: row.extraLabels,
      trust: 'tenant',
      enabled: row.enabled,
    };
  }

  /** The tenants whose figures are to be sent. */
  enabledTenants(): string[] {
    return this.store.enabled().map(({ tenant }) => tenant);
  }

  private open(row: OtlpRow): Map {
    return JSON.parse(this.app.secrets.open(row.tenant, SEALED_AS, row.headers));
  }
}

/**
 * The headers that are wanted, with masked values filled in from those that are kept. They are not when the endpoint
 * is at another place: who knows only the mask must not be able to send the secret there.
 */
function merge(
  wanted: Map | undefined,
  kept: Map,
  moved: boolean,
): { headers: Map; violations: readonly FieldViolation[] } {
  const violations: FieldViolation[] = [];
  const entries = Object.entries(wanted ?? masked(kept)).map(([name, value]) => {
    const old = kept[name];
    if (old === undefined || value !== maskKey(old)) return [name, value];
    if (moved)
      violations.push({ field: `headers.${name}`, description: 'must be sent anew for another endpoint' });
    return [name, old];
  });
  return { headers: Object.fromEntries(entries), violations };
}

function masked(headers: Map): Map {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskKey(value)]));
}

function originOf(endpoint: string): string {
  return URL.canParse(endpoint) ? new URL(endpoint).origin : '';
}
