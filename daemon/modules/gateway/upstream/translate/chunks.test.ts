import { describe, expect, test } from 'bun:test';
import type { ChatChunk } from '../../wire/chat.ts';
import { completionOf, type Delta } from './chunks.ts';

/** Chunks of an answer, as an upstream may send them: not all of them keep to the contract. */
const chunks = (...deltas: readonly object[]): ChatChunk[] =>
  deltas.map((delta) => ({
    id: 'one',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'model',
    choices: [{ index: 0, delta: delta as Delta, finish_reason: null }],
  }));

const messageOf = (...deltas: readonly object[]) => completionOf(chunks(...deltas)).choices[0]?.message;
const callsOf = (...calls: readonly object[]) =>
  messageOf({ tool_calls: calls })?.tool_calls?.map(({ id, function: called }) => [
    id,
    called?.name,
    called?.arguments,
  ]);
const call = (index: unknown, id: unknown, args: unknown = '{}', name: unknown = 'tool') => ({
  index,
  id,
  function: { name, arguments: args },
});

describe('calls of tools in a stream', () => {
  test('stand in the order of their places, without the places between them', () => {
    expect(callsOf(call(4_294_967_290, 'last'), call(7, 'second'), call(2, 'first'))).toEqual([
      ['first', 'tool', '{}'],
      ['second', 'tool', '{}'],
      ['last', 'tool', '{}'],
    ]);
  });

  test('that have no place follow one another', () => {
    const more = { function: { arguments: '1}' } };
    expect(callsOf(call(undefined, 'a', '{"x":'), more, call(undefined, 'b'))).toEqual([
      ['a', 'tool', '{"x":1}'],
      ['b', 'tool', '{}'],
    ]);
  });

  test.each(['length', 'filter', '__proto__', -1.5, null, {}])('with the place %p are calls', (place) => {
    expect(callsOf(call(place, 'a'))).toEqual([['a', 'tool', '{}']]);
  });

  test('whose parts are no text become text', () => {
    expect(callsOf(call(0, 7, { x: 1 }), call(1, {}, '', null))).toEqual([
      ['', 'tool', '{"x":1}'],
      ['', '', ''],
    ]);
  });

  test('have an end', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => call(i, `${i}`));
    expect(callsOf(...many)).toHaveLength(1_024);
  });
});

test('pieces of lists are put together in their order, and what is no list is passed over', () => {
  const message = messageOf(
    { provider_content: [1] },
    { provider_content: 'text', images: 'text' },
    { provider_content: [2, 3] },
  );
  expect(message).toMatchObject({ provider_content: [1, 2, 3], images: [] });
});
