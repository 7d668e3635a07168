import { expect, test } from 'bun:test';
import { type ServerEvent, sse } from './sse.ts';

const open = () => new AbortController().signal;

async function* list(...events: ServerEvent[]): AsyncGenerator<ServerEvent> {
  yield* events;
}

test('events are framed with id, name and JSON data, and the stream ends with its source', async () => {
  const response = sse(list({ data: { a: 'x\ny' } }, { data: 1, id: 7, event: 'tick' }), { signal: open() });
  expect(response.headers.get('content-type')).toStartWith('text/event-stream');
  expect(await response.text()).toBe('data: {"a":"x\\ny"}\n\nid: 7\nevent: tick\ndata: 1\n\n');
});

test('silence is filled with heartbeats and loses no event', async () => {
  const slow = (async function* () {
    await Bun.sleep(60);
    yield { data: 'late' };
  })();
  const text = await sse(slow, { signal: open(), heartbeatMs: 10 }).text();
  expect(text).toStartWith(': ping\n\n');
  expect(text).toEndWith('data: "late"\n\n');
});

test('a reader that leaves ends the source', async () => {
  let ended = false;
  const endless: AsyncIterable<ServerEvent> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false, value: { data: 0 } }),
      return: async () => {
        ended = true;
        return { done: true, value: undefined };
      },
    }),
  };
  const reader = sse(endless, { signal: open() }).body?.getReader();
  await reader?.read();
  await reader?.cancel();
  expect(ended).toBe(true);
});

test('events are made only as fast as they are read', async () => {
  let made = 0;
  const counting = (async function* () {
    for (;;) yield { data: made++ };
  })();
  const reader = sse(counting, { signal: open() }).body?.getReader();
  await reader?.read();
  await Bun.sleep(20);
  expect(made).toBeLessThan(5);
  await reader?.cancel();
});

test('a stream that greets says so before anything has happened', async () => {
  const quiet = (async function* () {
    await Bun.sleep(60_000);
    yield { data: 'late' };
  })();
  const controller = new AbortController();
  const response = sse(quiet, { signal: controller.signal, greets: true });
  const first = await response.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toBe(': open\n\n');
  controller.abort();
});
