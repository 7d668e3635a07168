import type { ApprovalReview, ReviewedToolCall, ToolCallDecision } from '../../../src/api/agents/reviews.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Cli } from '../../cli.ts';
import { showFields } from '../../ui/show.ts';
import { printable } from '../../ui/table.ts';
import { relativeTime } from '../../ui/time.ts';

/** A review as the daemon tells of it. */
export type ShownReview = Value<typeof ApprovalReview>;
type ShownCall = Value<typeof ReviewedToolCall>;
type ShownDecision = Value<typeof ToolCallDecision>;

/** `pending`, `approved`, `denied`, `expired` or `cancelled`. */
export function statusText({ status }: ShownReview): string {
  return status?.replace('APPROVAL_REVIEW_STATUS_', '').toLowerCase() ?? '';
}

/** What is asked, in one line: each tool with its arguments. */
export function callsText({ toolCalls = [] }: ShownReview): string {
  return unmasked(toolCalls.map(({ toolName, toolArgs }) => `${toolName} ${toolArgs}`).join('; '));
}

/** The badges of all calls, each once. */
export function riskText({ toolCalls = [] }: ShownReview): string {
  return [...new Set(toolCalls.flatMap(({ risk = [] }) => risk))].join(', ');
}

/** Prints a review: what it is about, then each call with its arguments and what was decided. */
export function showReview(cli: Cli, review: ShownReview): void {
  const { requestedAt, expiresAt, resolvedAt, resolvedBy, reviewer, toolCalls = [], decisions = [] } = review;
  const when = (at: string | undefined) => at && `${at} (${relativeTime(at)})`;
  const isPending = statusText(review) === 'pending';
  showFields(cli, [
    ['id', review.id],
    ['status', statusText(review)],
    ['session', review.sessionId],
    ['agent', review.agentId],
    ['turn', `${review.turnNumber}, after the model's answer ${review.iteration}`],
    ['why', review.note],
    ['asked', when(requestedAt)],
    ['expires', isPending ? when(expiresAt) : undefined],
    ['then', isPending ? review.defaultAction : undefined],
    ['ended', when(resolvedAt)],
    ['by', resolvedBy && reviewer ? `${resolvedBy} (as ${reviewer})` : resolvedBy],
    ['note', review.resolutionReason],
  ]);
  for (const call of toolCalls) showCall(cli, call, decisions);
}

function showCall(
  cli: Cli,
  { toolCallId, toolName, toolArgs = '', risk = [] }: ShownCall,
  all: ShownDecision[],
) {
  const decision = all.find((one) => one.toolCallId === toolCallId);
  cli.terminal.print('');
  showFields(cli, [
    ['call', toolCallId],
    ['tool', toolName],
    ['risk', risk.join(', ')],
    ['decided', decision && decidedText(decision)],
  ]);
  cli.terminal.print(printable(unmasked(indented(toolArgs))));
}

function decidedText({ action, reason }: ShownDecision): string {
  const word = action === 'APPROVAL_ACTION_APPROVE' ? 'approve' : 'deny';
  return reason ? `${word}: ${reason}` : word;
}

/** JSON over several lines; text that is no JSON as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Characters that turn the order of others round or hide between them, as escapes: what is shown is what will run. */
export function unmasked(text: string): string {
  return text.replace(
    /[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
