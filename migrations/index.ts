import type { Migration } from '../daemon/db/migrate.ts';
import core from './0001_core.sql' with { type: 'text' };
import auth from './0002_auth.sql' with { type: 'text' };
import sandbox from './0003_sandbox.sql' with { type: 'text' };

/** The schema, step by step, embedded in the executable. */
export const migrations: readonly Migration[] = [
  { version: 1, name: 'core', sql: core },
  { version: 2, name: 'auth', sql: auth },
  { version: 3, name: 'sandbox', sql: sandbox },
];
