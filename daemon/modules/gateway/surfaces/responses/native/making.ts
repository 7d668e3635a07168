import type { ByteSource, Upstream } from '../../../upstream/adapter.ts';
import { UpstreamError } from '../../../upstream/error.ts';
import { failedCall } from '../../../upstream/open.ts';
import { isObject, parsed } from '../../../upstream/translate/content.ts';
import { EventData } from '../../../upstream/translate/sse.ts';
import { ReadAhead } from '../../../wire/byte-source.ts';
import type { Usage } from '../../../wire/usage.ts';
import { WholeLines } from '../../../wire/whole-lines.ts';
import type { Cut } from '../chat/writer.ts';
import { bytesOf, type Making, type Step } from '../making.ts';
import { usageOfResponse } from '../usage.ts';
import { endOf, LIFECYCLE, type ResponseEvent, type ResponseObject } from '../wire.ts';
import { NativeFilter } from './filter.ts';
import { unfinished } from './partial.ts';

const MOST_AHEAD_BYTES = 256 * 1024;
const LONGEST_LINE_BYTES = 64 * 1024 * 1024;

/** A response that a vendor streams in this dialect: its bytes pass. */
export class NativeMaking implements Making {
  private readonly filter: NativeFilter;
  private readonly lines = new WholeLines(LONGEST_LINE_BYTES);

  constructor(
    readonly headers: Headers,
    private readonly source: ByteSource,
    private readonly upstream: Upstream,
    base: ResponseObject,
  ) {
    this.filter = new NativeFilter(base);
  }

  get usage(): Usage | undefined {
    return usageOfResponse(this.filter.latest);
  }

  async *steps(): AsyncGenerator<Step, void> {
    try {
      for (;;) {
        const { done, value } = await this.source.read();
        const lines = done || !value ? this.lines.rest() : this.lines.take(value);
        if (lines) {
          const step = this.filter.passing(lines);
          yield step;
          if (step.end) return;
        }
        if (done || !value) break;
      }
      throw new UpstreamError('network', cutOff(this.upstream.account.name));
    } catch (error) {
      throw failedCall(error, this.upstream.account.name, this.upstream.signal);
    } finally {
      void this.source.cancel().catch(() => undefined);
    }
  }

  cut({ status, error = null }: Cut) {
    const open = this.filter.openEvents();
    const output = [...this.filter.items, ...unfinished(open)];
    const end: ResponseObject = { ...this.filter.latest, status, error, output };
    return { bytes: bytesOf([endOf(end, this.filter.nextNumber())]), end };
  }
}

/**
 * Reads a stream until the model has begun to answer, which is the last moment at which another provider may be asked. Errors: UpstreamError when
 * it begins with a failure, or ends before its answer.
 */
export async function untilAnswer(source: ByteSource, { account }: Upstream): Promise<ByteSource> {
  const head: Uint8Array[] = [];
  const reader = new EventData();
  let bytes = 0;
  while (bytes < MOST_AHEAD_BYTES) {
    const { done, value } = await source.read();
    if (done || !value) throw new UpstreamError('server', cutOff(account.name));
    head.push(value);
    bytes += value.byteLength;
    const events = reader.take(value).map(parsed).filter(isObject);
    const failure = events
      .map((event) => failureIn(event, account.name))
      .find((error) => error !== undefined);
    if (failure) {
      await source.cancel();
      throw failure;
    }
    if (events.some(({ type }) => typeof type === 'string' && !BEFORE_ANSWER.has(type))) break;
  }
  return new ReadAhead(head, source);
}

const BEFORE_ANSWER: ReadonlySet<string> = new Set([
  LIFECYCLE.created,
  LIFECYCLE.queued,
  LIFECYCLE.inProgress,
]);

/** The failure that an event reports: `error`, or a response that failed. */
function failureIn(event: Readonly<Record<string, unknown>>, provider: string): UpstreamError | undefined {
  const response = event.response as ResponseObject | undefined;
  const said =
    event.type === LIFECYCLE.failed ? response?.error : event.type === 'error' ? errorIn(event) : undefined;
  if (!said) return undefined;
  const { code, message } = said as { code?: unknown; message?: unknown };
  const kind =
    code === 'rate_limit_exceeded' ? 'rate_limit' : code === 'invalid_prompt' ? 'request' : 'server';
  return new UpstreamError(kind, `The provider ${provider} failed: ${message ?? 'without a reason'}`, {
    code: typeof code === 'string' ? code : undefined,
  });
}

function errorIn(event: Readonly<Record<string, unknown>>): unknown {
  return isObject(event.error) ? event.error : event;
}

function cutOff(provider: string): string {
  return `The provider ${provider} closed the connection before its answer was complete.`;
}

/** Events of this dialect out of bytes that are whole events. */
export function eventsOf(reader: EventData, bytes: Uint8Array): ResponseEvent[] {
  return reader.take(bytes).flatMap((data) => {
    const event = parsed(data);
    return isObject(event) && typeof event.type === 'string' ? [event as ResponseEvent] : [];
  });
}
