/** Where a request stands in a trace. */
export interface TraceContext {
  /** 16 bytes, hexadecimal. */
  readonly traceId: string;
  /** The caller's span, 8 bytes, hexadecimal; absent when the trace begins here. */
  readonly parentId?: string;
}

/** Version, trace, parent and flags (W3C Trace Context, 3.2). A later version may have more fields. */
const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NOTHING = /^0+$/;
const SAMPLED = 1;
/** Hexadecimal digits of a trace id that a share is decided by: the last ones, which are random. */
const DIGITS = 12;
const RANGE = 16 ** DIGITS;

/**
 * The trace of a request that is to be traced; undefined for one that is not. Which are is decided by the trace id, so
 * that everybody who samples the same share takes the same traces; a caller who does not record its trace has none here.
 * `rate` is 0 to 1.
 */
export function sampledContext(header: string | undefined, rate: number): TraceContext | undefined {
  if (rate <= 0) return undefined;
  const caller = header === undefined ? undefined : readTraceParent(header);
  if (caller && !caller.isSampled) return undefined;
  const traceId = caller?.traceId ?? randomHex(16);
  if (rate < 1 && Number.parseInt(traceId.slice(-DIGITS), 16) / RANGE < 1 - rate) return undefined;
  return { traceId, parentId: caller?.parentId };
}

/** Reads a `traceparent`; undefined when it is none, and a new trace begins then. */
export function readTraceParent(
  header: string,
): (Required<TraceContext> & { readonly isSampled: boolean }) | undefined {
  const [, version, traceId = '', parentId = '', flags = '', more] = TRACE_PARENT.exec(header.trim()) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (NOTHING.test(traceId) || NOTHING.test(parentId)) return undefined;
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Random bytes, hexadecimal. */
export function randomHex(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}
