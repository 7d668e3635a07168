import { asAppError } from '../../../../src/errors/app-error.ts';
import { failureOf } from '../pipeline/failure.ts';
import type { Settlement } from '../pipeline/settlement.ts';
import { UpstreamError } from '../upstream/error.ts';
import { eventBytes } from '../wire/event-stream.ts';

/** The event that stands for the rest of a stream that failed after its first content; stock clients throw it. */
export function failureEvent(cause: unknown): Uint8Array {
  const error = asAppError(failureOf(cause, []));
  const shown = { message: error.message, type: 'api_error', param: null, code: error.code };
  return eventBytes(JSON.stringify({ error: shown }));
}

/** What a stream has failed with: an error that was meant, or else a connection that broke. */
export function broken(error: unknown, settlement: Settlement): unknown {
  return error instanceof UpstreamError || asAppError(error) === error ? error : cutOff(settlement);
}

/** The error of an upstream that closed the connection too early. */
export function cutOff({ model }: Settlement): UpstreamError {
  const provider = model?.slice(0, model.indexOf('/')) ?? '';
  return new UpstreamError(
    'server',
    `The provider ${provider} closed the connection before its answer was complete.`,
  );
}
