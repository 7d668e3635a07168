import type { StreamedChat, WholeChat } from '../../../upstream/adapter.ts';
import type { Usage } from '../../../wire/usage.ts';
import { bytesOf, type Made, type Making, type Step } from '../making.ts';
import type { ResponseObject } from '../wire.ts';
import { chunkOf } from './completion.ts';
import { type Cut, ResponseWriter } from './writer.ts';

/** A response out of a completion that came whole. Errors: UpstreamError when it says nothing. */
export function madeOf({ completion, headers }: WholeChat, base: ResponseObject, now: () => number): Made {
  const writer = new ResponseWriter(base, now);
  writer.begin(completion.model);
  writer.take(chunkOf(completion));
  const { response } = writer.end();
  const json = new Headers(headers);
  json.set('content-type', 'application/json');
  return { headers: json, response, usage: writer.usage };
}

/** A response out of a completion that streams. */
export class ChatMaking implements Making {
  private readonly writer: ResponseWriter;
  private hasBegun = false;

  constructor(
    private readonly answer: StreamedChat,
    base: ResponseObject,
    now: () => number,
  ) {
    this.writer = new ResponseWriter(base, now);
  }

  get headers(): Headers {
    return this.answer.headers;
  }

  get usage(): Usage | undefined {
    return this.writer.usage;
  }

  async *steps(): AsyncGenerator<Step, void> {
    for await (const chunk of this.answer.chunks) {
      const begun = this.begin(chunk.model);
      const events = [...begun, ...this.writer.take(chunk)];
      if (events.length > 0) yield { bytes: bytesOf(events) };
    }
    const { events, response } = this.writer.end();
    yield { bytes: bytesOf(events), end: response };
  }

  cut(cut: Cut) {
    const begun = this.begin(undefined);
    const { events, response } = this.writer.cut(cut);
    return { bytes: bytesOf([...begun, ...events]), end: response };
  }

  private begin(model: string | undefined) {
    if (this.hasBegun) return [];
    this.hasBegun = true;
    return this.writer.begin(model);
  }
}
