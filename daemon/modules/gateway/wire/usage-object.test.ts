import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { tokensOf, usageIn, usageObject } from './usage-object.ts';

test('is found in any JSON text, in its place, and nothing else is taken for it', () => {
  const usage = { prompt_tokens: 3, total_tokens: 3, details: { note: 'a "}" \\ {' } };
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), fc.boolean(), (data, said, isFirst) => {
      const rest = { data: JSON.stringify(data), said: `"usage":{"prompt_tokens":9} ${said}` };
      const text = JSON.stringify(isFirst ? { usage, ...rest } : { ...rest, usage }, null, said.length % 3);
      const found = usageObject(text);
      expect(found?.value).toEqual(usage);
      expect(JSON.parse(text.slice(found?.start, found?.end))).toEqual(usage);
    }),
    { numRuns: 500 },
  );
});

test('is the last one of a stream, also when the text begins in the middle', () => {
  const event = (output_tokens: number) =>
    `data: {"type":"x","usage":{"input_tokens":5,"output_tokens":${output_tokens}}}\n\n`;
  expect(usageIn(`st","usage":{"in${event(1)}${event(2)}data: {"usage":null}\n\n`)).toEqual({
    input: 5,
    output: 2,
  });
});

test.each([
  [
    { prompt_tokens: 3, completion_tokens: 4 },
    { input: 3, output: 4 },
  ],
  [
    { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    { input: 3, output: 4 },
  ],
  [{ total_tokens: 7 }, { input: 7, output: 0 }],
  [
    { type: 'duration', seconds: 9 },
    { input: 0, output: 0, seconds: 9 },
  ],
  [{ type: 'duration' }, undefined],
  [{ prompt_tokens: '3' }, undefined],
  [{ prompt_tokens: -1 }, undefined],
  [{}, undefined],
])('%j means %j', (value, usage) => expect(tokensOf(value)).toEqual(usage));

test.each(['', '"usage"', '"usage":', '"usage":{', '"usage":{"a":', '{"usage":null}'])(
  '%j has none',
  (text) => expect(usageObject(text)).toBeUndefined(),
);

test('no text makes it fail', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('"usage"', ':', '{', '}', '"', '\\', '1', ' ') }),
      (text) => usageIn(text) !== null,
    ),
  );
});
