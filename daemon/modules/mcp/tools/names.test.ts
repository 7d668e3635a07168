import { describe, expect, test } from 'bun:test';
import { federatedDescription, federatedName, passes, slugOf } from './names.ts';
import { failureText, outputOf } from './output.ts';

test.each([
  ['github', 'mcp__github__search'],
  ['My Server', 'mcp__My_Server__search'],
  ['a-b.c/d', 'mcp__a_b_c_d__search'],
  ['größe', 'mcp__gr__e__search'],
  ['under_score', 'mcp__under_score__search'],
])('the tool search of %s is %s', (server, name) => {
  expect(federatedName(slugOf(server), 'search')).toBe(name);
});

test('a description says whose it is, and nothing is added to none', () => {
  expect(federatedDescription('My Server', 'Finds.')).toBe('[MCP:My Server] Finds.');
  expect(federatedDescription('a', '')).toBe('[MCP:a]');
});

test.each([
  [undefined, 'a', true],
  [{ type: 'include', tools: ['a'] }, 'a', true],
  [{ type: 'include', tools: ['a'] }, 'b', false],
  [{ type: 'include', tools: [] }, 'a', false],
  [{ type: 'exclude', tools: ['a'] }, 'a', false],
  [{ type: 'exclude', tools: ['a'] }, 'b', true],
] as const)('the filter %j lets %s through: %p', (filter, tool, expected) => {
  expect(passes(filter, tool)).toBe(expected);
});

describe('an answer as text', () => {
  test('is its blocks, a line each', () => {
    const content = [
      { type: 'text' as const, text: 'a' },
      { type: 'image' as const, data: '', mimeType: 'image/png' },
      { type: 'resource' as const, resource: { uri: 'file:///x', text: '' } },
      { type: 'audio' as const, data: 'AA==', mimeType: 'audio/wav' },
    ];
    expect(outputOf({ content }).split('\n')).toEqual([
      'a',
      '[image: image/png]',
      '[resource: file:///x]',
      '{"type":"audio","data":"AA==","mimeType":"audio/wav"}',
    ]);
  });

  test('is the structured content when there is no block', () => {
    expect(outputOf({ content: [], structuredContent: { a: [1] } })).toBe('{"a":[1]}');
    expect(outputOf({ content: [] })).toBe('');
  });

  test('of a failure always says that it is one', () => {
    expect(failureText('no')).toBe('Error from MCP tool: no');
    expect(failureText('')).toBe('Error from MCP tool: it failed without saying why');
  });
});
