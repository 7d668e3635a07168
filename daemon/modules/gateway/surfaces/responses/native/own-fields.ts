import type { ResponseObject } from '../wire.ts';

/**
 * A vendor's response as this gateway's own: under our id, with what was asked of us and not of the vendor. It was asked to keep nothing, and it has
 * never heard of the response that this one goes on from.
 */
export function asOurs(vendors: ResponseObject, base: ResponseObject): ResponseObject {
  const { id, created_at, background, previous_response_id, store } = base;
  return { ...vendors, id, created_at, background, previous_response_id, store };
}
