import type { ByteSource, Upstream } from '../../upstream/adapter.ts';
import { eventError } from '../../upstream/anthropic/failure.ts';
import { UpstreamError } from '../../upstream/error.ts';
import { failedCall } from '../../upstream/open.ts';
import { parseJson } from '../../upstream/translate/answer.ts';
import { EventData } from '../../upstream/translate/sse.ts';
import { ReadAhead } from '../../wire/byte-source.ts';
import type { MessagesEvent } from '../../wire/messages.ts';

/** Events that come before the answer itself. */
const BEFORE = ['message_start', 'ping'];

/**
 * Reads a stream of messages until something of the answer has come, which is the last moment at which another upstream may be asked.
 * Errors: UpstreamError when it begins with an error or ends without an answer; cancelled.
 */
export async function untilContent(source: ByteSource, upstream: Upstream): Promise<ByteSource> {
  const { account, signal } = upstream;
  try {
    return new ReadAhead(await readHead(source, account.name), source);
  } catch (error) {
    await source.cancel().catch(() => undefined);
    throw failedCall(error, account.name, signal);
  }
}

async function readHead(source: ByteSource, provider: string): Promise<Uint8Array[]> {
  const events = new EventData();
  const head: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await source.read();
    if (done || !value)
      throw new UpstreamError('server', `The provider ${provider} ended its stream before its answer.`);
    head.push(value);
    for (const data of events.take(value)) {
      const event = parseJson(data, provider) as MessagesEvent;
      if (event.type === 'error') throw eventError(event, provider);
      if (!BEFORE.includes(event.type)) return head;
    }
  }
}
