import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type KernelMessage, MarkReader } from './marks.ts';

const TOKEN = 'tokenofthisrun';
const mark = (text: string) => `\u001e${TOKEN}${text}\n`;
const end = mark('.{"type":"end","error":null}');

/** What comes of a text that arrives cut at these places. */
function read(text: string, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text);
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const reader = new MarkReader();
  reader.expect(TOKEN);
  const plain: Uint8Array[] = [];
  const messages: Array<KernelMessage | string> = [];
  for (let i = 1; i < edges.length; i++)
    for (const piece of reader.read(bytes.subarray(edges[i - 1], edges[i]))) {
      if ('bytes' in piece) plain.push(piece.bytes);
      else messages.push('message' in piece ? piece.message : piece.broken);
    }
  plain.push(reader.end());
  return { plain: Buffer.concat(plain).toString(), messages };
}

describe('an output of a context', () => {
  test('is taken apart into what the code wrote and what its kernel says', () => {
    const { plain, messages } = read(
      `one\n${mark('+{"type":"result",')}two${mark('."data":{"a":1}}')}three${end}`,
    );
    expect(plain).toBe('one\ntwothree');
    expect(messages).toEqual([{ type: 'result', data: { a: 1 } }, { type: 'end' }]);
  });

  test.each([
    ['another token', '\u001eother.{"type":"end"}\n'],
    ['no token', '\u001e.{"type":"end"}\n'],
    ['a mark that never ends', `\u001e${TOKEN}.${'x'.repeat(10_000)}`],
  ])('shows %s as it is', (_, text) => {
    expect(read(`${text}${end}`)).toEqual({ plain: text, messages: [{ type: 'end' }] });
  });

  test.each([
    ['that is no JSON', '.{"type":'],
    ['of a type that there is not', '.{"type":"format the disk"}'],
    ['that is a list', '.[1]'],
    ['that is null', '.null'],
  ])('leaves a message out %s', (_, text) => {
    const { messages } = read(`${mark(text)}${end}`);
    expect(messages).toEqual([expect.stringContaining('left out'), { type: 'end' }]);
  });

  test('leaves a message out that is longer than any, and goes on', () => {
    const reader = new MarkReader();
    reader.expect(TOKEN);
    const part = Buffer.from(mark(`+${'y'.repeat(4000)}`).repeat(256));
    for (let i = 0; i < 40; i++) expect([...reader.read(part)]).toEqual([]);
    const [broken, last] = [...reader.read(Buffer.from(mark('.') + end))];
    expect(broken).toEqual({ broken: expect.stringContaining('left out') });
    expect(last).toEqual({ message: { type: 'end' } });
  });

  test('believes no field that has another form', () => {
    const { messages } = read(
      mark('.{"type":"end","error":{"ename":1,"traceback":"x"},"code":"7","data":[1],"name":2}'),
    );
    expect(messages).toEqual([{ type: 'end', error: { ename: '1', evalue: '', traceback: [] } }]);
  });

  test('comes out the same however it is cut', () => {
    const piece = fc.constantFrom(
      'x',
      '\n',
      '\u001e',
      TOKEN,
      `\u001e${TOKEN}`,
      end,
      mark('+{"type"'),
      mark('.:"ready"}'),
      '€',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat()), (pieces, cuts) => {
        const text = pieces.join('') + end;
        expect(read(text, cuts)).toEqual(read(text));
      }),
    );
  });
});
