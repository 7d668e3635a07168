/** Why an answer ended, in the words of chat completions. Source: platform.claude.com, Handling stop reasons. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** How a choice ends: in this family's words, and in the provider's own, which say more. */
export interface Ending {
  readonly finish_reason: string;
  readonly native_finish_reason: string;
}

/** The end of an answer. One that was given as the input of a tool (`answersByTool`) is no call of a tool. */
export function endingOf(stopReason: string | null | undefined, answersByTool: boolean): Ending {
  const native = stopReason ?? 'end_turn';
  const reason = FINISH_REASONS[native] ?? 'stop';
  return {
    finish_reason: answersByTool && reason === 'tool_calls' ? 'stop' : reason,
    native_finish_reason: native,
  };
}

/** The tier of the service that answered, as chat completions name it. */
export function serviceTier(tier: string | null | undefined): { service_tier?: string } {
  if (!tier) return {};
  return { service_tier: tier === 'standard' ? 'default' : tier };
}
