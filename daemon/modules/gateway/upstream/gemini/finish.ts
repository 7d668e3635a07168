/** Why a candidate ended, in the words of this family, by FinishReason. */
const REASONS: Readonly<Record<string, string>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
};

/** Ends that are faults of the model: asking again may help, and an empty answer would hide them. */
const FAULTS = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
]);

/** Whether an end is a fault of the model. */
export function isFault(reason: string): boolean {
  return FAULTS.has(reason);
}

/** The reason in the words of this family. */
export function finishOf(reason: string, hasCalls: boolean): string {
  const word = REASONS[reason] ?? 'stop';
  return word === 'stop' && hasCalls ? 'tool_calls' : word;
}
