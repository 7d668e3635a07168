import type { Caller } from '../../../../http/route.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import type { ResponseRequest } from './wire.ts';

/** What a response in the background is made with, apart from the connection that asked for it. Holds no credential. */
export interface Run {
  readonly request: ResponseRequest;
  readonly requestId: string;
  readonly peer: string;
  readonly caller: Pick<Caller, 'role' | 'actor' | 'userId' | 'via'>;
  /** The headers that change the way of a request (pipeline/overrides.ts). */
  readonly headers: Readonly<Record<string, string>>;
}

const KEPT_HEADER = /^x-svc-(fallback|strategy|retries|timeout-ms|cache\S*)$/;

/** What is to be kept of a call so that it can be made later. */
export function runOf({ request, requestId, caller, headers, peer }: ModelCall<ResponseRequest>): Run {
  const { role, actor, userId, via } = caller;
  return {
    request,
    requestId,
    peer: peer(),
    caller: { role, actor, userId, via },
    headers: Object.fromEntries([...headers].filter(([name]) => KEPT_HEADER.test(name))),
  };
}

/** The call again, which ends with the signal and not with any connection. */
export function callOf(tenant: string, run: Run, signal: AbortSignal): ModelCall<ResponseRequest> {
  const { request, requestId, peer, caller, headers } = run;
  return {
    surface: 'responses',
    request,
    requestId,
    signal,
    caller: { ...caller, tenant },
    headers: new Headers(headers),
    peer: () => peer,
  };
}
