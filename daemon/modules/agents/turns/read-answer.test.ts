import { describe, expect, test } from 'bun:test';
import type { ChatMessage } from '../../gateway/index.ts';
import { readAnswer } from './read-answer.ts';

/** What a provider may send, whatever the contract says. */
function read(said: object) {
  let count = 0;
  return readAnswer(said as ChatMessage, () => `own-${++count}`);
}

const call = (id: unknown, name: unknown = 'tool', args: unknown = '{}') => ({
  id,
  function: { name, arguments: args },
});

describe('an answer', () => {
  test.each(['system', 'user', 'tool', undefined])('with the role %p is the assistant’s', (role) => {
    expect(read({ role, content: 'hi' }).message).toEqual({ role: 'assistant', content: 'hi' });
  });

  test('without calls has a text', () => {
    expect(read({ content: null, tool_calls: 'none' })).toEqual({
      message: { role: 'assistant', content: '' },
      calls: [],
    });
  });

  test('keeps what its provider wants to have back, and nothing else', () => {
    const said = {
      content: 'hi',
      provider_content: [1],
      reasoning_content: 'hm',
      tool_call_id: 'x',
      name: 'y',
    };
    expect(read(said).message).toEqual({
      role: 'assistant',
      content: 'hi',
      provider_content: [1],
      reasoning_content: 'hm',
    } as ChatMessage);
  });
});

describe('calls', () => {
  test('get ids of their own where those of the provider are missing, too long or there twice', () => {
    const ids = ['a', 'a', '', null, 'x'.repeat(1_000), 'b'];
    const { calls, message } = read({ content: null, tool_calls: ids.map((id) => call(id)) });
    expect(calls.map(({ modelId }) => modelId)).toEqual(['a', 'own-2', 'own-3', 'own-4', 'own-5', 'b']);
    expect(message.tool_calls?.map(({ id }) => id)).toEqual(calls.map(({ modelId }) => modelId));
  });

  test.each([
    [{ x: 1 }, { y: 2 }, '{"x":1}', '{"y":2}'],
    [null, null, '', ''],
    [['n'], 5, '["n"]', '5'],
  ])('whose name is %p and whose arguments are %p are texts', (name, args, shownName, shownArgs) => {
    const { calls, message } = read({ content: null, tool_calls: [call('a', name, args)] });
    expect(calls[0]).toMatchObject({ name: shownName, args: shownArgs });
    expect(message.tool_calls?.[0]?.function).toEqual({ name: shownName, arguments: shownArgs });
  });

  test('whose arguments are too much together are left out, but for the first', () => {
    const sizes = [2_000_000, 10, 10];
    const of = (...list: number[]) =>
      read({ tool_calls: list.map((size) => call(`${size}`, 'tool', 'x'.repeat(size))) }).calls.length;
    expect(of(...sizes)).toBe(1);
    expect(of(600_000, 400_000, 100_000, 10)).toBe(2);
  });

  test('have names of some length, and there are no more than 64', () => {
    const many = Array.from({ length: 100 }, (_, i) => call(`${i}`, 'n'.repeat(10_000)));
    const { calls } = read({ content: null, tool_calls: [null, 'x', ...many] });
    expect(calls).toHaveLength(64);
    expect(new Set(calls.map(({ name }) => name.length))).toEqual(new Set([256]));
  });
});
