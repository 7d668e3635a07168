import { describe, expect, test } from 'bun:test';
import { relay } from '../../wire/relay.ts';
import { CheckedSource, textOf } from './guarded.ts';

const event = (data: { type: string }) =>
  new TextEncoder().encode(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
const delta = (said: object) => event({ type: 'content_block_delta', index: 0, delta: said } as never);
const EVENTS = [
  event({ type: 'message_start' }),
  delta({ type: 'text_delta', text: 'my card ' }),
  delta({ type: 'text_delta', text: 'is 42' }),
  delta({ type: 'input_json_delta', partial_json: '{"n":1}' }),
  event({ type: 'message_stop' }),
];

function source(pieces: readonly Uint8Array[]) {
  let at = 0;
  const state = { left: false };
  const read = async () => ({ done: at >= pieces.length, value: pieces[at++] });
  const cancel = async () => {
    state.left = true;
  };
  return { read, cancel, state };
}

describe('a streamed message that guardrails look at', () => {
  test('passes as it is once all of its text was seen', async () => {
    const seen: string[] = [];
    const given = source(EVENTS);
    const checked = new CheckedSource(given, async (text) => void seen.push(text));
    const ends = { ended() {}, failed: () => undefined, left() {} };
    const bytes = await new Response(relay(checked, ends)).bytes();
    expect(seen).toEqual(['my card is 42{"n":1}']);
    expect(Buffer.from(bytes).toString()).toBe(Buffer.concat(EVENTS).toString());
  });

  test('shows nothing when it is refused', async () => {
    const checked = new CheckedSource(source(EVENTS), () => Promise.reject(new Error('blocked')));
    expect(checked.read()).rejects.toThrow('blocked');
  });

  test('is not held without a bound', async () => {
    const large = Array.from({ length: 9 }, () => new Uint8Array(1024 * 1024));
    const given = source(large);
    const checked = new CheckedSource(given, async () => {});
    expect(await checked.read().catch((error: Error) => error.message)).toContain('too long');
    expect(given.state.left).toBe(true);
  });
});

test('the text of a whole message is its texts and the inputs of its calls', () => {
  const content = [
    { type: 'thinking', thinking: 'hm', signature: '' },
    { type: 'text', text: 'one' },
    { type: 'tool_use', id: 't', name: 'read', input: { path: 'a' } },
  ];
  const usage = { output_tokens: 1 };
  const head = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_reason: null,
    stop_sequence: null,
  } as const;
  expect(textOf({ ...head, content, usage })).toBe('one\n{"path":"a"}');
});
