import type { AgentEvent as AgentEventSchema } from '../../../../src/api/agents/turns.ts';
import type { Value } from '../../../../src/api/schema.ts';

/** One thing that happens in a session, on the wire (spec, streaming message `result`). */
export type AgentEvent = Value<typeof AgentEventSchema>;

/** What happens, before it has its place. */
export type NewEvent = Omit<AgentEvent, 'sessionId' | 'turnNumber' | 'type'> & {
  readonly type: NonNullable<AgentEvent['type']>;
};

/** An event that is on the disk. */
export interface StoredEvent {
  readonly sessionId: string;
  /** Counts from 1 in its session without a gap: the id of the event on a stream. */
  readonly seq: number;
  readonly turnNumber: number;
  readonly type: NewEvent['type'];
  /** The other fields, as JSON text. */
  readonly fields: string;
}

/** An event as it goes over the wire. */
export function eventWire({ sessionId, turnNumber, type, fields }: StoredEvent): AgentEvent {
  return { type, sessionId, turnNumber, ...(JSON.parse(fields) as object) };
}
