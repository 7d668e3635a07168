import { fail } from '../../../../../src/errors/app-error.ts';
import { EventData } from '../../upstream/translate/sse.ts';
import { eventsOf } from './native/making.ts';
import type { Run } from './run.ts';
import { LIFECYCLE, type ResponseEvent, type ResponseObject } from './wire.ts';

/** Most that is remembered of the events of one response. */
const MOST_BYTES = 16 * 1024 * 1024;

/** A response that is made in the background, with its events for whoever follows it. */
export class BackgroundRun {
  private readonly controller = new AbortController();
  private readonly over = Promise.withResolvers<void>();
  private readonly reader = new EventData();
  private readonly events: ResponseEvent[] = [];
  private bytes = 0;
  private bell = Promise.withResolvers<void>();
  isOver = false;
  /** The daemon stops: what is cut off then has failed, and was not cancelled. */
  isStopped = false;

  constructor(
    readonly tenant: string,
    readonly run: Run,
    /** As it is now. */
    public response: ResponseObject,
  ) {
    this.add([this.event(LIFECYCLE.created), this.event(LIFECYCLE.queued)]);
  }

  /** Aborted when it is to end. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Resolves when it is over and kept. */
  get ended(): Promise<void> {
    return this.over.promise;
  }

  abort(): void {
    this.controller.abort();
  }

  /** The events in these bytes that are news here. Errors: resource_exhausted when there are too many. */
  read(bytes: Uint8Array): ResponseEvent[] {
    this.bytes += bytes.byteLength;
    if (this.bytes > MOST_BYTES)
      throw fail('resource_exhausted', { message: 'The answer is too long for the background.' });
    return eventsOf(this.reader, bytes).filter(
      ({ type }) => type !== LIFECYCLE.created && type !== LIFECYCLE.queued,
    );
  }

  /** Tells those who follow. Events are numbered here, whatever numbers they come with. */
  add(events: readonly ResponseEvent[]): void {
    for (const event of events) this.events.push({ ...event, sequence_number: this.events.length });
    this.ring();
  }

  /** Every event so far, and then these, as lines of JSON. */
  logWith(events: readonly ResponseEvent[]): string {
    const all = [...this.events, ...events];
    return all.map((event, sequence_number) => JSON.stringify({ ...event, sequence_number })).join('\n');
  }

  /** It is over: it is kept as it is now, and these are its last events. */
  end(response: ResponseObject, events: readonly ResponseEvent[]): void {
    this.response = response;
    this.isOver = true;
    this.add(events);
    this.over.resolve();
  }

  /** The events after one, as they come, until it is over or the follower leaves. */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<ResponseEvent, void> {
    const leave = () => this.ring();
    signal.addEventListener('abort', leave, { once: true });
    try {
      for (let next = after + 1; !signal.aborted; ) {
        const event = this.events[next];
        if (event) {
          next++;
          yield event;
        } else if (this.isOver) return;
        else await this.bell.promise;
      }
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  private ring(): void {
    const { bell } = this;
    this.bell = Promise.withResolvers<void>();
    bell.resolve();
  }

  private event(type: string): ResponseEvent {
    return { type, sequence_number: 0, response: this.response };
  }
}
