import type { ChatMessage, Converse, Reply } from '../../gateway/index.ts';

/** A call that a script wants. */
export interface ScriptedCall {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** One answer of a script: text, calls or both. */
export interface ScriptedStep {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
}

/**
 * A model that follows a script and knows where it stands from the conversation alone: after n answers of its own since the
 * last words of the user comes step n. It refuses a conversation in which a call of its has not exactly one result, right after it.
 */
export function scriptedModel(script: readonly ScriptedStep[]): Converse {
  return async (_caller, { request, onText, signal }) => {
    await Promise.resolve();
    signal.throwIfAborted();
    const messages = request.messages as readonly ChatMessage[];
    checkPairs(messages);
    const last = messages.findLastIndex(({ role }) => role === 'user');
    const said = messages.slice(last).filter(({ role }) => role === 'assistant').length;
    const step = script[said] ?? { text: 'done' };
    onText?.(step.text ?? '');
    return replyOf(request.model, step, said);
  };
}

function replyOf(model: string, { text, calls = [] }: ScriptedStep, said: number): Reply {
  const asked = calls.map(({ name, args = {} }, i) => ({
    id: `step_${said}_${i}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const message: ChatMessage = { role: 'assistant', content: text ?? null };
  return {
    message: asked.length > 0 ? { ...message, tool_calls: asked } : message,
    finishReason: asked.length > 0 ? 'tool_calls' : 'stop',
    model,
    usage: { input: 10, output: 5 },
    requestId: 'req_test',
  };
}

function checkPairs(messages: readonly ChatMessage[]): void {
  for (const [i, { tool_calls: calls = [] }] of messages.entries()) {
    const results = messages.slice(i + 1, i + 1 + calls.length);
    const ids = results.map(({ role, tool_call_id }) => (role === 'tool' ? tool_call_id : role));
    if (JSON.stringify(ids) !== JSON.stringify(calls.map(({ id }) => id)))
      throw new Error(`calls without their results: ${JSON.stringify(messages)}`);
  }
  const results = messages.filter(({ role }) => role === 'tool').length;
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls).length;
  if (results !== calls) throw new Error(`${results} results of ${calls} calls`);
}
