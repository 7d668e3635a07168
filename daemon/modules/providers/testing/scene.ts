import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Endpoint, Output, Role } from '../../../../src/api/endpoint.ts';
import { AppError } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import { Config } from '../../../config/config.ts';
import type { Call, Caller } from '../../../http/route.ts';
import { openTestApp } from '../../../testing/app.ts';
import type { ProviderAccount } from '../account.ts';
import { createProvidersModule } from '../index.ts';

/** The tenant of the instance in these tests. */
export const INSTANCE = 'org_instance';
/** Another tenant. */
export const OTHER = 'org_other';

/** What an operation is called with; what is absent is empty. */
export interface Input {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: object;
}

/** The module over a database in memory and a data directory of its own. */
export class Scene {
  readonly dir = mkdtempSync(join(tmpdir(), 'svc-providers-'));
  readonly app: App;
  private module;
  private now = 1_700_000_000_000;

  constructor(
    private readonly env: Record<string, string> = {},
    outbound?: App['outbound'],
  ) {
    const base = openTestApp({ now: () => this.now++ }, { 'data.dir': this.dir });
    const config = new Config({ flags: { 'data.dir': this.dir }, env: this.env });
    this.app = { ...base, config, ...(outbound ? { outbound } : {}) };
    this.module = createProvidersModule(this.app, { instanceTenant: INSTANCE });
  }

  /** As a new process would be made over the same rows. */
  async restart(): Promise<void> {
    await this.module.stop?.();
    this.module = createProvidersModule(this.app, { instanceTenant: INSTANCE });
    await this.module.start?.();
  }

  async start(): Promise<void> {
    await this.module.start?.();
  }

  async close(): Promise<void> {
    await this.module.stop?.();
    this.app.db.close();
    rmSync(this.dir, { recursive: true });
  }

  get directory() {
    return this.module.directory;
  }

  /** A provider as a tenant's calls would use it. */
  account(tenant: string, name: string): ProviderAccount | undefined {
    return this.directory.of(tenant).find((account) => account.name === name);
  }

  /** The secrets of the keys that may be picked. */
  secrets(tenant: string, name: string): string[] | undefined {
    return this.account(tenant, name)?.keys.map(({ secret }) => secret);
  }

  async call<E extends Endpoint>(tenant: string, endpoint: E, input: Input = {}): Promise<Output<E>> {
    const route = this.module.routes.find((one) => one.endpoint.id === endpoint.id);
    const caller: Caller = { tenant, role: 'admin' satisfies Role, actor: 'usr_test', via: 'api-key' };
    const call = { params: {}, query: {}, body: {}, ...input, caller } as unknown as Call;
    return (await route?.handle(call)) as Output<E>;
  }

  /** The error that a call ends with: its code and the field that it names. */
  async refused(
    tenant: string,
    endpoint: Endpoint,
    input: Input = {},
  ): Promise<{ code: string; field?: string; message: string }> {
    try {
      await this.call(tenant, endpoint, input);
    } catch (error) {
      if (error instanceof AppError)
        return { code: error.code, field: error.violations[0]?.field, message: error.message };
      throw error;
    }
    throw new Error('it was not refused');
  }

  get file(): string {
    return readFileSync(join(this.dir, 'providers.yaml'), 'utf8');
  }

  set file(text: string) {
    writeFileSync(join(this.dir, 'providers.yaml'), text);
  }

  /** Every row of every table as text, for looking for secrets. */
  dump(): string {
    const tables = ['provider_configs', 'provider_keys', 'provider_key_switches', 'audit_log', 'settings'];
    return tables
      .map((table) => JSON.stringify(this.app.db.raw.query(`SELECT * FROM ${table}`).all()))
      .join('\n');
  }
}
