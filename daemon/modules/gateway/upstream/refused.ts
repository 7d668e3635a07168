import { UpstreamError } from './error.ts';

/** The error of a request for which an upstream's dialect has no word. `field` is its path in the caller's request. */
export function refused(field: string, description: string): UpstreamError {
  return new UpstreamError('request', `${field}: ${description}`, {
    status: 400,
    param: field,
    type: 'invalid_request_error',
  });
}
