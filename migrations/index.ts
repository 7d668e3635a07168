import type { Migration } from '../daemon/db/migrate.ts';
import core from './0001_core.sql' with { type: 'text' };

/** The schema, step by step, embedded in the executable. */
export const migrations: readonly Migration[] = [{ version: 1, name: 'core', sql: core }];
