import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { TypedText } from './line-editor.ts';

const END = '\ue00a';

/** What reaches the line of what was typed in these pieces. */
async function typed(pieces: readonly string[], takes: (key: string) => boolean = () => false) {
  const filter = new TypedText(takes);
  let text = '';
  filter.on('data', (data: Buffer) => {
    text += data.toString();
  });
  for (const piece of pieces) filter.write(Buffer.from(piece));
  filter.end();
  await new Promise((resolve) => filter.on('end', resolve));
  return text;
}

describe('what is typed', () => {
  test.each([
    ['hi\r', 'hi\r'],
    ['\x1b[200~one\r\ntwo\n\tx\x1b[201~\r', `one${END}two${END}  x\r`],
    ['\x1b[A\x1b[D', '\x1b[A\x1b[D'],
  ])('%j arrives as %j', async (sent, text) => {
    expect(await typed([sent])).toBe(text);
  });

  test('may be cut anywhere', async () => {
    const sent = 'é\x1b[200~one\ntwo\x1b[201~\rthree';
    const whole = await typed([sent]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(sent.length), { maxLength: 6 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), sent.length];
        // A terminal sends the first two bytes of a mark together.
        const places = at.filter((place) => sent[place - 1] !== '\x1b');
        expect(await typed(places.slice(1).map((end, i) => sent.slice(places[i], end)))).toBe(whole);
      }),
      { numRuns: 100 },
    );
  });

  test('a key that is taken does not arrive', async () => {
    expect(await typed(['a', 'd', 'b'], (key) => key === 'd')).toBe('ab');
  });
});
