import { UpstreamError } from '../error.ts';

const MOST_HELD_CHARS = 32 * 1024 * 1024;

/**
 * Takes the data of server-sent events (WHATWG HTML, 9.2) out of bytes that are cut anywhere. Names, ids and comments
 * are passed over: the dialects here say everything in the data.
 */
export class EventData {
  private readonly decoder = new TextDecoder();
  private rest = '';
  private data: string | undefined;

  /** The data of the events that are complete now. Errors: UpstreamError when one event does not end. */
  take(bytes: Uint8Array): string[] {
    return this.read(this.decoder.decode(bytes, { stream: true }));
  }

  /** What is left when the source has ended: the data of a last event without its blank line. */
  end(): string[] {
    return this.read(`${this.decoder.decode()}\n\n`);
  }

  private read(text: string): string[] {
    const all = this.rest === '' ? text : this.rest + text;
    const events: string[] = [];
    if (!text.includes('\n')) return this.hold(all, events);
    let start = 0;
    for (let feed = all.indexOf('\n'); feed >= 0; feed = all.indexOf('\n', start)) {
      const end = feed > start && all.charCodeAt(feed - 1) === 13 ? feed - 1 : feed;
      this.line(all, start, end, events);
      start = feed + 1;
    }
    return this.hold(all.slice(start), events);
  }

  private hold(rest: string, events: string[]): string[] {
    this.rest = rest;
    if (this.rest.length + (this.data?.length ?? 0) > MOST_HELD_CHARS)
      throw new UpstreamError('server', 'The provider sent an event that does not end.');
    return events;
  }

  private line(text: string, start: number, end: number, events: string[]): void {
    if (start === end) {
      if (this.data !== undefined) events.push(this.data);
      this.data = undefined;
      return;
    }
    if (!text.startsWith('data:', start)) return;
    const from = text.charCodeAt(start + 5) === 32 ? start + 6 : start + 5;
    const piece = text.slice(from, end);
    this.data = this.data === undefined ? piece : `${this.data}\n${piece}`;
  }
}
