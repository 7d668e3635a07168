import type { Attempt, Ending, RequestRecord } from '../pipeline/record.ts';
import type { Usage } from '../wire/usage.ts';

/** A row of the request log. What is a list or an object stands as JSON. */
export interface LogRow {
  readonly requestId: string;
  readonly tenant: string;
  readonly actor: string;
  readonly surface: string;
  readonly streamed: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly firstByteMs: number | null;
  readonly status: number;
  readonly ending: Ending;
  readonly requestedModel: string;
  readonly model: string | null;
  readonly resolvedBy: string | null;
  readonly attempts: string;
  readonly usage: string | null;
  readonly costMicros: number | null;
  readonly cache: string | null;
  readonly violations: string | null;
  readonly error: string | null;
}

/** A record that is in the log, by its place there. */
export interface LoggedRecord extends RequestRecord {
  readonly seq: number;
}

/** A name of a model that callers make up is kept only so far. */
const MOST_NAME = 256;

/** The row of a record. */
export function toRow(record: RequestRecord): LogRow {
  return {
    requestId: record.requestId,
    tenant: record.tenant,
    actor: record.actor,
    surface: record.surface,
    streamed: Number(record.streamed),
    startedAt: record.startedAt,
    durationMs: record.durationMs,
    firstByteMs: record.firstByteMs ?? null,
    status: record.status,
    ending: record.ending,
    requestedModel: record.requestedModel.slice(0, MOST_NAME),
    model: record.model?.slice(0, MOST_NAME) ?? null,
    resolvedBy: record.resolvedBy ?? null,
    attempts: record.attempts.length === 0 ? '[]' : JSON.stringify(record.attempts),
    usage: record.usage ? JSON.stringify(record.usage) : null,
    costMicros: record.costMicros ?? null,
    cache: record.cache ?? null,
    violations: record.violations ? JSON.stringify(record.violations) : null,
    error: record.error ?? null,
  };
}

/** The record of a row. */
export function fromRow(row: LogRow & { readonly seq: number }): LoggedRecord {
  return {
    ...row,
    surface: row.surface as RequestRecord['surface'],
    streamed: row.streamed === 1,
    firstByteMs: row.firstByteMs ?? undefined,
    model: row.model ?? undefined,
    resolvedBy: (row.resolvedBy ?? undefined) as RequestRecord['resolvedBy'],
    attempts: JSON.parse(row.attempts) as Attempt[],
    usage: row.usage === null ? undefined : (JSON.parse(row.usage) as Usage),
    costMicros: row.costMicros ?? undefined,
    cache: (row.cache ?? undefined) as RequestRecord['cache'],
    violations: row.violations === null ? undefined : (JSON.parse(row.violations) as string[]),
    error: row.error ?? undefined,
  };
}
