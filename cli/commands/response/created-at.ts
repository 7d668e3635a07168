import { rfc3339, SECOND_MS } from '../../../src/kit/time.ts';

/** Unix seconds, as text or number, as an RFC 3339 timestamp. */
export function createdAt(seconds: string | number | undefined): string | undefined {
  return seconds === undefined ? undefined : rfc3339(Number(seconds) * SECOND_MS);
}
