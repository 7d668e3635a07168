import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { WholeLines } from '../../../wire/whole-lines.ts';
import { newResponse } from '../new-response.ts';
import { endOf, LIFECYCLE, type ResponseEvent, type ResponseObject } from '../wire.ts';
import { NativeFilter } from './filter.ts';
import { unfinished } from './partial.ts';

const base = newResponse(
  'resp_ours',
  1000,
  { model: 'm', input: 'x', previous_response_id: 'resp_before' },
  'in_progress',
);
const vendors: ResponseObject = {
  ...base,
  id: 'resp_vendor',
  previous_response_id: null,
  store: false,
  model: 'm-1',
};
const bytesOf = (events: readonly ResponseEvent[]) =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
const text = (deltas: readonly string[]): ResponseEvent[] => [
  { type: LIFECYCLE.created, sequence_number: 0, response: vendors },
  {
    type: 'response.output_item.added',
    sequence_number: 1,
    output_index: 0,
    item: { id: 'msg_1', type: 'message', content: [] },
  },
  {
    type: 'response.content_part.added',
    sequence_number: 2,
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text: '' },
  },
  ...deltas.map((delta, i) => ({
    type: 'response.output_text.delta',
    sequence_number: 3 + i,
    output_index: 0,
    content_index: 0,
    delta,
  })),
];

/** Passes bytes in pieces of these sizes, by turns. */
function pass(bytes: Buffer, sizes: readonly number[]) {
  const filter = new NativeFilter(base);
  const lines = new WholeLines();
  const passed: Uint8Array[] = [];
  let end: ResponseObject | undefined;
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const piece = lines.take(bytes.subarray(at, at + (sizes[i % sizes.length] ?? 1)));
    at += sizes[i % sizes.length] ?? 1;
    if (!piece) continue;
    const step = filter.passing(piece);
    passed.push(step.bytes);
    end ??= step.end;
  }
  return { filter, passed: Buffer.concat(passed).toString(), end };
}

const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 });
const deltas = fc.array(fc.oneof(fc.string(), fc.constant('"response": {"type":"response.completed"}')), {
  minLength: 1,
  maxLength: 20,
});

describe('a vendor’s events', () => {
  test('pass byte for byte, but for those with the response, which becomes ours', () => {
    fc.assert(
      fc.property(deltas, sizes, (said, cuts) => {
        const events = [...text(said), endOf({ ...vendors, status: 'completed' }, 3 + said.length)];
        const ours = { id: 'resp_ours', previous_response_id: 'resp_before', store: true };
        const expected = events.map((event) =>
          event.response ? { ...event, response: { ...(event.response as object), ...ours } } : event,
        );
        const { passed, end } = pass(bytesOf(events), cuts);
        expect(passed).toBe(bytesOf(expected as ResponseEvent[]).toString());
        expect(end).toMatchObject({ id: 'resp_ours', status: 'completed', model: 'm-1' });
      }),
    );
  });

  test('that break off say how far they came', () => {
    fc.assert(
      fc.property(deltas, sizes, (said, cuts) => {
        const { filter } = pass(bytesOf(text(said)), cuts);
        const [item] = unfinished(filter.openEvents());
        expect(item).toMatchObject({ id: 'msg_1', status: 'incomplete', content: [{ text: said.join('') }] });
        expect(filter.nextNumber()).toBe(3 + said.length);
      }),
    );
  });
});
