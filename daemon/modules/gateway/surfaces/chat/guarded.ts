import { fail } from '../../../../../src/errors/app-error.ts';
import type { ChatChunk, ChatCompletion } from '../../wire/chat.ts';

/** The most of a stream that is held back for a look at its end. */
const MOST_HELD_CHARS = 4 * 1024 * 1024;

/** The text of an answer: contents and arguments of calls, of all its choices. */
export function textOf({ choices }: ChatCompletion): string {
  return choices
    .flatMap(({ message }) => [
      typeof message.content === 'string' ? message.content : '',
      ...(message.tool_calls ?? []).map((call) => call.function?.arguments ?? ''),
    ])
    .join('\n');
}

/** The same chunks, held back until the text of all of them was looked at. Errors: what `check` throws. */
export async function* checkedChunks(
  chunks: AsyncIterable<ChatChunk>,
  check: (text: string) => Promise<void>,
): AsyncGenerator<ChatChunk> {
  const held: ChatChunk[] = [];
  let text = '';
  for await (const chunk of chunks) {
    held.push(chunk);
    text += chunk.choices.map(deltaText).join('');
    if (text.length > MOST_HELD_CHARS)
      throw fail('resource_exhausted', { message: 'The answer is too long to be looked at by guardrails.' });
  }
  await check(text);
  yield* held;
}

function deltaText({ delta }: ChatChunk['choices'][number]): string {
  return (
    (delta.content ?? '') + (delta.tool_calls ?? []).map((call) => call.function?.arguments ?? '').join('')
  );
}
