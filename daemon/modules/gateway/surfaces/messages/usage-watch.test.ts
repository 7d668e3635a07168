import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { WholeLines } from '../../wire/whole-lines.ts';
import { UsageWatch } from './usage-watch.ts';

const START = {
  type: 'message_start',
  message: {
    usage: { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 2, output_tokens: 1 },
  },
};
const TEXT = {
  type: 'content_block_delta',
  delta: { type: 'text_delta', text: 'say "usage":{"output_tokens":999} and "message_stop"' },
};
const END = {
  type: 'message_delta',
  delta: {},
  usage: { output_tokens: 40, input_tokens: null, output_tokens_details: { thinking_tokens: 30 } },
};
const STOP = { type: 'message_stop' };

const wire = (events: readonly { type: string }[]) =>
  new TextEncoder().encode(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  );

describe('the usage of a stream that passes', () => {
  test('is found wherever its bytes are cut', () => {
    const bytes = wire([START, TEXT, TEXT, END, STOP]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }), (sizes) => {
        const watch = new UsageWatch();
        const lines = new WholeLines();
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          const passing = lines.take(bytes.subarray(at, at + size));
          if (passing) expect(watch.passing(passing)).toBe(passing);
          at += size;
        }
        expect(watch.usage).toEqual({ input: 17, output: 40, cachedInput: 5, cacheWrite: 2, reasoning: 30 });
        expect(watch.isComplete).toBe(true);
      }),
    );
  });

  test('of one that was cut off is known for its input, and guessed for its output', () => {
    const watch = new UsageWatch();
    watch.passing(wire([START, TEXT, TEXT, TEXT]));
    expect(watch.isComplete).toBe(false);
    expect(watch.usage).toMatchObject({ input: 17, output: 4, estimated: true });
  });

  test('is not known when nothing was said of it', () => {
    const watch = new UsageWatch();
    watch.passing(wire([TEXT]));
    expect(watch.usage).toBeUndefined();
  });
});
