/** One message of a server-sent event stream (WHATWG HTML, section 9.2). */
export interface SseMessage {
  /** The event's type; `message` when the stream names none. */
  readonly event: string;
  /** The data lines, joined by newlines. */
  readonly data: string;
  /** The last event id seen so far; empty when the stream gave none. */
  readonly id: string;
}

/** Reads the text of an event stream piece by piece, wherever the pieces are cut. */
export class SseParser {
  /** The id to send as Last-Event-ID when the stream is opened again; empty when there is none. */
  lastEventId = '';
  /** Milliseconds to wait before opening the stream again, when the server said so. */
  retryMs: number | undefined;

  private line = '';
  private afterCr = false;
  private event = '';
  private data: string[] = [];

  /** Takes the next piece and returns the messages that it completes. */
  push(piece: string): SseMessage[] {
    const messages: SseMessage[] = [];
    if (piece === '') return messages;
    const rest = this.afterCr && piece.startsWith('\n') ? piece.slice(1) : piece;
    let start = 0;
    for (const end of rest.matchAll(/\r\n|\r|\n/g)) {
      this.takeLine(this.line + rest.slice(start, end.index), messages);
      this.line = '';
      start = end.index + end[0].length;
    }
    this.afterCr = piece.endsWith('\r');
    this.line += rest.slice(start);
    return messages;
  }

  private takeLine(line: string, messages: SseMessage[]): void {
    if (line === '') {
      this.dispatch(messages);
      return;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.data.push(value);
    else if (name === 'event') this.event = value;
    else if (name === 'id' && !value.includes('\0')) this.lastEventId = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  private dispatch(messages: SseMessage[]): void {
    if (this.data.length > 0) {
      messages.push({
        event: this.event || 'message',
        data: this.data.join('\n'),
        id: this.lastEventId,
      });
    }
    this.event = '';
    this.data = [];
  }
}

/**
 * The messages of a response body. Leaving the loop early closes the stream.
 * A message that the stream's end cuts off is dropped, as the standard asks.
 */
export async function* readSse(body: ReadableStream<Uint8Array>): AsyncGenerator<SseMessage> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
