import { fail } from '../../../../../src/errors/app-error.ts';
import type { ByteSource } from '../../upstream/adapter.ts';
import { EventData } from '../../upstream/translate/sse.ts';
import { piecesOf } from '../../wire/byte-source.ts';
import type { MessagesEvent, MessagesMessage } from '../../wire/messages.ts';

/** The most of a stream that is held back for a look at its end. */
const MOST_HELD_BYTES = 8 * 1024 * 1024;

/** The text of a message: its texts, and the inputs of its calls. */
export function textOf({ content }: MessagesMessage): string {
  return content
    .flatMap(({ type, text, input }) => (type === 'tool_use' ? [JSON.stringify(input)] : text ? [text] : []))
    .join('\n');
}

/** The bytes of a streamed message, held back until the text of all of it was looked at. Errors: what `check` throws. */
export class CheckedSource implements ByteSource {
  private held: Uint8Array[] | undefined;

  constructor(
    private readonly source: ByteSource,
    private readonly check: (text: string) => Promise<void>,
  ) {}

  async read(): Promise<{ done: boolean; value?: Uint8Array }> {
    this.held ??= await this.readAll();
    const value = this.held.shift();
    return value ? { done: false, value } : { done: true };
  }

  cancel(reason?: unknown): Promise<void> {
    return this.source.cancel(reason);
  }

  private async readAll(): Promise<Uint8Array[]> {
    const events = new EventData();
    const held: Uint8Array[] = [];
    let [text, size] = ['', 0];
    for await (const piece of piecesOf(this.source)) {
      held.push(piece);
      size += piece.byteLength;
      if (size > MOST_HELD_BYTES)
        throw fail('resource_exhausted', {
          message: 'The answer is too long to be looked at by guardrails.',
        });
      for (const data of events.take(piece)) text += textIn(data);
    }
    await this.check(text);
    return held;
  }
}

function textIn(data: string): string {
  if (!data.includes('_delta"')) return '';
  const { delta } = JSON.parse(data) as MessagesEvent;
  return delta?.text ?? delta?.partial_json ?? '';
}
