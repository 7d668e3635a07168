import type { ChatChunk, ChatCompletion } from '../../../wire/chat.ts';

type Delta = ChatChunk['choices'][number]['delta'];

/** A whole completion as one chunk, so that both kinds of answers are read by the same code. */
export function chunkOf({ choices, ...head }: ChatCompletion): ChatChunk {
  return {
    ...head,
    object: 'chat.completion.chunk',
    choices: choices.map(({ message, ...choice }) => ({ ...choice, delta: deltaOf(message) })),
  };
}

function deltaOf({
  tool_calls,
  content,
  role: _,
  ...message
}: ChatCompletion['choices'][number]['message']): Delta {
  return {
    ...message,
    content: typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join(''),
    tool_calls: tool_calls?.map((call, index) => ({ ...call, index })),
  };
}
