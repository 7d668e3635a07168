import type {
  ResponseItem,
  ResponseRequest as ResponseRequestSchema,
  StoredResponse,
} from '../../../../../src/api/gateway/responses.ts';
import type { Value } from '../../../../../src/api/schema.ts';

/** Fields that the contract does not name are kept. */
type Open = { readonly [field: string]: unknown };

/** A wish for a response. */
export type ResponseRequest = Value<typeof ResponseRequestSchema> & Open;
/** One item of an input or an output, told apart by `type`; a message may leave it out. */
export type Item = Value<typeof ResponseItem> & Open;
/** A response, finished or not. */
export type ResponseObject = Value<typeof StoredResponse> & Open;
/** How a response stands. */
export type Status = ResponseObject['status'];
/** One event of a stream. They are numbered from 0 without gaps. */
export type ResponseEvent = { readonly type: string; readonly sequence_number: number } & Open;

/** The events that say how the whole response stands, with the response in them; the last three end a stream. */
export const LIFECYCLE = {
  created: 'response.created',
  queued: 'response.queued',
  inProgress: 'response.in_progress',
  completed: 'response.completed',
  incomplete: 'response.incomplete',
  failed: 'response.failed',
} as const;

const ENDS: ReadonlySet<unknown> = new Set([LIFECYCLE.completed, LIFECYCLE.incomplete, LIFECYCLE.failed]);

/** Whether nothing comes after an event of this type. */
export function isEnd(type: unknown): boolean {
  return ENDS.has(type);
}

/**
 * The event that ends a stream with this response. The stock client knows none for one that was cancelled: it hears of it as
 * incomplete, and reads `status`.
 */
export function endOf(response: ResponseObject, sequence_number: number): ResponseEvent {
  const { status } = response;
  const type = status === 'completed' || status === 'failed' ? LIFECYCLE[status] : LIFECYCLE.incomplete;
  return { type, sequence_number, response };
}

/** Whether a response will not change any more. */
export function isOver(status: Status): boolean {
  return status !== 'queued' && status !== 'in_progress';
}
