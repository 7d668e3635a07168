import { createHash } from 'node:crypto';
import type { CallDecision, ReviewedCall } from './face.ts';

/** The hash that binds a decision to a call: SHA-256 of the tool's name, a newline and its arguments, in hex. */
export function hashOf(toolName: string, toolArgs: string): string {
  return createHash('sha256').update(`${toolName}\n${toolArgs}`).digest('hex');
}

/** One decision for all calls of a review. */
export function decideAll(
  calls: readonly ReviewedCall[],
  action: CallDecision['action'],
  reason: string,
): CallDecision[] {
  return calls.map(({ toolCallId, argsHash }) => ({ toolCallId, argsHash, action, reason }));
}

/** How a review ends that was decided so: denied when nothing of it goes on. */
export function statusOf(decisions: readonly CallDecision[]): 'approved' | 'denied' {
  return decisions.some(({ action }) => action === 'approve') ? 'approved' : 'denied';
}

/** Whether both decide each call in the same way. Reasons do not count. */
export function isSameDecision(one: readonly CallDecision[], other: readonly CallDecision[]): boolean {
  const actions = new Map(one.map(({ toolCallId, action }) => [toolCallId, action]));
  return (
    one.length === other.length && other.every(({ toolCallId, action }) => actions.get(toolCallId) === action)
  );
}
