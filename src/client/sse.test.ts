import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readSse, type SseMessage, SseParser } from './sse.ts';

const LINE_ENDS = ['\n', '\r', '\r\n'] as const;

function parse(text: string): SseMessage[] {
  return new SseParser().push(text);
}

/** A response body that arrives cut at these byte offsets. */
function bodyOf(bytes: Uint8Array, cuts: readonly number[]): ReadableStream<Uint8Array> {
  const edges = [0, ...[...cuts].map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return new ReadableStream({
    start(controller) {
      for (let i = 1; i < edges.length; i++) controller.enqueue(bytes.slice(edges[i - 1], edges[i]));
      controller.close();
    },
  });
}

async function collect(body: ReadableStream<Uint8Array>): Promise<SseMessage[]> {
  const messages: SseMessage[] = [];
  for await (const message of readSse(body)) messages.push(message);
  return messages;
}

describe('SseParser', () => {
  const cases: Array<[name: string, text: string, messages: SseMessage[]]> = [
    ['one data line', 'data: a\n\n', [{ event: 'message', data: 'a', id: '' }]],
    ['only the first space is dropped', 'data:  a\n\n', [{ event: 'message', data: ' a', id: '' }]],
    ['no space is needed', 'data:a\n\n', [{ event: 'message', data: 'a', id: '' }]],
    ['data lines are joined', 'data: a\ndata: b\n\n', [{ event: 'message', data: 'a\nb', id: '' }]],
    ['a field without a colon is empty', 'data\n\n', [{ event: 'message', data: '', id: '' }]],
    [
      'an event type holds for one message',
      'event: x\ndata: 1\n\ndata: 2\n\n',
      [
        { event: 'x', data: '1', id: '' },
        { event: 'message', data: '2', id: '' },
      ],
    ],
    [
      'an id holds until the next one',
      'id: 7\ndata: 1\n\ndata: 2\n\n',
      [
        { event: 'message', data: '1', id: '7' },
        { event: 'message', data: '2', id: '7' },
      ],
    ],
    ['an id with NUL is ignored', 'id: 7\0\ndata: 1\n\n', [{ event: 'message', data: '1', id: '' }]],
    [
      'comments and unknown fields are ignored',
      ': hi\nfoo: bar\ndata: 1\n\n',
      [{ event: 'message', data: '1', id: '' }],
    ],
    ['an event without data is none', 'event: x\n\ndata: 1\n\n', [{ event: 'message', data: '1', id: '' }]],
    ['a message without its blank line is none', 'data: a\n', []],
  ];
  test.each(cases)('%s', (_, text, messages) => {
    expect(parse(text)).toEqual(messages);
  });

  test('takes a retry time of digits alone', () => {
    const parser = new SseParser();
    parser.push('retry: 1500\nretry: soon\n');
    expect(parser.retryMs).toBe(1500);
  });

  test('keeps the last id for the next connection, also from an event without data', () => {
    const parser = new SseParser();
    parser.push('id: 41\ndata: x\n\nid: 42\n\n');
    expect(parser.lastEventId).toBe('42');
  });

  test('a carriage return and a line feed in two pieces are one line end', () => {
    const parser = new SseParser();
    expect([
      ...parser.push('data: a\r'),
      ...parser.push('\n'),
      ...parser.push('\r'),
      ...parser.push('\n'),
    ]).toEqual([{ event: 'message', data: 'a', id: '' }]);
  });
});

describe('readSse', () => {
  const word = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !/[\r\n\0]/.test(text));
  const sent = fc.array(
    fc.record({
      event: fc.constantFrom('message', 'delta', 'done'),
      data: fc.array(word, { minLength: 1, maxLength: 4 }),
      id: word,
      comment: fc.boolean(),
    }),
    { maxLength: 6 },
  );

  test('gives what was sent, however the bytes are cut and the lines end', async () => {
    await fc.assert(
      fc.asyncProperty(sent, fc.constantFrom(...LINE_ENDS), fc.array(fc.nat()), async (list, end, cuts) => {
        const text = list
          .map(({ event, data, id, comment }) =>
            [
              ...(comment ? [': still here'] : []),
              `event: ${event}`,
              `id: ${id}`,
              ...data.map((line) => `data: ${line}`),
              '',
              '',
            ].join(end),
          )
          .join('');
        const expected = list.map(({ event, data, id }) => ({ event, data: data.join('\n'), id }));
        expect(await collect(bodyOf(new TextEncoder().encode(text), cuts))).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test('any text gives the same messages whole and cut', async () => {
    const piece = fc.constantFrom('\r', '\n', 'data:', 'id: 1', 'event', ':', ' ', 'é', '🦊', 'x');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), fc.array(fc.nat()), async (pieces, cuts) => {
        const text = pieces.join('');
        expect(await collect(bodyOf(new TextEncoder().encode(text), cuts))).toEqual(parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test('drops a byte order mark', async () => {
    const bytes = new TextEncoder().encode('\uFEFFdata: a\n\n');
    expect(await collect(bodyOf(bytes, [1, 2]))).toEqual([{ event: 'message', data: 'a', id: '' }]);
  });

  test('leaving the loop cancels the body', async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: a\n\n')),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of readSse(body)) break;
    expect(cancelled).toBe(true);
  });
});
