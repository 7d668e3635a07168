import { invalid } from '../../../../src/errors/app-error.ts';
import type { LogPlace } from './log-store.ts';

/** A place in the log as callers carry it. */
export function toCursor({ startedAt, seq }: LogPlace): string {
  return `${startedAt}-${seq}`;
}

/** Reads a cursor; undefined stays undefined. Errors: invalid_argument. */
export function readCursor(text: string | undefined): LogPlace | undefined {
  if (text === undefined || text === '') return undefined;
  const [, startedAt, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  if (startedAt === undefined || seq === undefined)
    throw invalid({ field: 'cursor', description: 'must be nextCursor of the page before' });
  return { startedAt: Number(startedAt), seq: Number(seq) };
}
