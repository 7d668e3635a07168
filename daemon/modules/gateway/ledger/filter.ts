import type { usage } from '../../../../src/api/gateway/usage.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import type { RequestRecord } from '../pipeline/record.ts';

/** Which requests are asked for. Absent means all. */
export type RequestFilter = Omit<Value<typeof usage.WatchRequests.query>, 'after'>;

/** The stretch of time that is asked for; Unix time in milliseconds, both ends included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

const MICROS = 1_000_000;

/** Whether a request is one of those that are asked for. */
export type Matches = (record: RequestRecord) => boolean;

/** Makes the test of a filter. */
export function matcher(filter: RequestFilter): Matches {
  const tests: Matches[] = [];
  const { model, key, status, ending, surface, minDurationMs, minCostUsd } = filter;
  if (model !== undefined) tests.push(modelTest(model));
  if (key !== undefined) tests.push((record) => record.actor === key);
  if (status !== undefined) tests.push(statusTest(status));
  if (ending !== undefined) tests.push((record) => record.ending === ending);
  if (surface !== undefined) tests.push((record) => record.surface === surface);
  if (minDurationMs !== undefined) tests.push(({ durationMs }) => durationMs >= minDurationMs);
  if (minCostUsd !== undefined) tests.push(({ costMicros }) => (costMicros ?? -1) >= minCostUsd * MICROS);
  return (record) => tests.every((test) => test(record));
}

/** Reads `since` and `until`. Errors: invalid_argument when the first is after the second. */
export function readRange({ since, until }: { readonly since?: string; readonly until?: string }): Range {
  const range = {
    from: since ? Date.parse(since) : 0,
    to: until ? Date.parse(until) : Number.MAX_SAFE_INTEGER,
  };
  if (range.from > range.to) throw invalid({ field: 'since', description: 'must not be after until' });
  return range;
}

/** `gpt-4o` is any provider's; a final `*` stands for any rest. */
function modelTest(wanted: string): Matches {
  const isPrefix = wanted.endsWith('*');
  const text = isPrefix ? wanted.slice(0, -1) : wanted;
  const fits = (name: string) => (isPrefix ? name.startsWith(text) : name === text);
  const names = (name: string | undefined) =>
    name !== undefined && (fits(name) || (!text.includes('/') && fits(name.slice(name.indexOf('/') + 1))));
  return ({ model, requestedModel }) => names(model) || names(requestedModel);
}

function statusTest(wanted: string): Matches {
  if (!wanted.endsWith('xx')) return ({ status }) => status === Number(wanted);
  const hundreds = Number(wanted[0]);
  return ({ status }) => Math.floor(status / 100) === hundreds;
}
