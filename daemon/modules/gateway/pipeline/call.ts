import type { Call, Caller } from '../../../http/route.ts';
import type { JsonSurface } from '../upstream/adapter.ts';

/** The ways in which a model is asked, each with a dialect of its own. */
export type Surface = 'chat' | JsonSurface;

/** What every request to a model has, whatever its surface. */
export interface ModelRequest {
  readonly model: string;
  readonly stream?: boolean | null;
}

/** One request to a model, as it came in. */
export interface ModelCall<R extends ModelRequest = ModelRequest> {
  readonly surface: Surface;
  readonly caller: Caller;
  readonly requestId: string;
  /** Address of the peer; read only when somebody counts by it. */
  readonly peer: () => string;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** The headers of the request, for overrides (pipeline/overrides.ts). */
  readonly headers: Headers;
  readonly request: R;
}

/** The request to a model that an HTTP call is. */
export function modelCall<R extends ModelRequest>(
  surface: Surface,
  call: Pick<Call, 'caller' | 'requestId' | 'peer' | 'signal' | 'request'>,
  request: R,
): ModelCall<R> {
  const { caller, requestId, signal } = call;
  return {
    surface,
    caller,
    requestId,
    signal,
    peer: () => call.peer,
    headers: call.request.headers,
    request,
  };
}
