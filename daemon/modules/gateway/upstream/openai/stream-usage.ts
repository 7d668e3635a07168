import type { Upstream } from '../adapter.ts';

/** What of a request says how it streams. */
interface Streaming {
  readonly stream?: boolean | null;
  readonly stream_options?: unknown;
}

/** Providers that refuse `stream_options`; they report usage in their streams without being asked. */
const REPORT_UNASKED = ['mistral'];

/** A stream has to tell what it took; the surface takes that out again for callers who did not ask. */
export function reportsUsage<R extends Streaming>(request: R, { account }: Upstream): R {
  if (!request.stream || REPORT_UNASKED.includes(account.name)) return request;
  return {
    ...request,
    stream_options: { ...(request.stream_options as object | undefined), include_usage: true },
  };
}
