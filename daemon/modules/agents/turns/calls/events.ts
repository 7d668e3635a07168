import type { NewEvent } from '../../events/event.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { CallRow } from '../tables.ts';

/** A call begins. */
export function startEvent({ id, name, args }: CallRow): NewEvent {
  return { type: 'tool_call.start', toolCallId: id, toolName: name, toolArgs: args };
}

/** A call is over. */
export function endEvent({ id, name }: CallRow, { ok, output }: ToolOutcome, durationMs: number): NewEvent {
  const shown = {
    toolCallId: id,
    toolName: name,
    toolResult: output,
    toolSuccess: ok,
    toolDurationMs: String(durationMs),
  };
  return ok ? { type: 'tool_call.end', ...shown } : { type: 'tool_call.error', ...shown, error: output };
}

/** A call as a person is asked about it. */
export const shownCall = ({ id, name, args }: CallRow) => ({
  toolCallId: id,
  toolName: name,
  toolArgs: args,
});
