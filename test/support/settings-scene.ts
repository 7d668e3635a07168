import type { App } from '../../daemon/app.ts';
import type { Caller } from '../../daemon/http/route.ts';
import { ConfigChecks } from '../../daemon/modules/settings/checks.ts';
import { readDefaults } from '../../daemon/modules/settings/defaults.ts';
import { SettingsService } from '../../daemon/modules/settings/service.ts';
import { SettingsSnapshot } from '../../daemon/modules/settings/snapshot.ts';
import { SettingsStore } from '../../daemon/modules/settings/store.ts';
import { openTestApp } from '../../daemon/testing/app.ts';
import { AppError } from '../../src/errors/app-error.ts';

/** An admin of the tenant `org_me`. */
export const me: Caller = { tenant: 'org_me', role: 'admin', actor: 'key_1', via: 'api-key' };

/** The settings module over a real database in memory. */
export class SettingsScene {
  readonly app: App;
  readonly store: SettingsStore;
  snapshot!: SettingsSnapshot;
  service!: SettingsService;
  checks!: ConfigChecks;
  private ms = 1_000_000;

  /** `flags` are settings of the instance. */
  constructor(flags: Readonly<Record<string, string | number>> = {}) {
    this.app = openTestApp({ now: () => this.ms++ }, flags);
    this.store = new SettingsStore(this.app.db);
    this.restart();
  }

  /** Composes the module anew over the same database; with other settings of the instance when they are given. */
  restart(flags?: Readonly<Record<string, string | number>>): void {
    const { config } = flags ? openTestApp(this.app.clock, flags) : this.app;
    this.snapshot = new SettingsSnapshot(this.store, readDefaults(config), this.app);
    this.service = new SettingsService(this.app, this.store, this.snapshot);
    this.checks = new ConfigChecks(this.app, this.store, this.snapshot);
  }

  /** Actions and targets of the audit log, oldest first. */
  audited(): unknown[] {
    return this.app.db.raw.query('SELECT action, target FROM audit_log ORDER BY rowid').all();
  }
}

/** The error that something is refused with. */
export function refusal(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
