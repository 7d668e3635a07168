import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { LogHead } from './log-head.ts';

const MARK = '\0mark of this call\n';

test('what stands before the mark is the log, however it comes in pieces', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme' }),
      fc.string(),
      fc.array(fc.nat(60)),
      async (text, after, cuts) => {
        const logs = new LogHead(MARK);
        const bytes = Buffer.from(text + MARK + after);
        let at = 0;
        for (const cut of cuts) {
          logs.add(bytes.subarray(at, at + cut));
          at += cut;
        }
        logs.add(bytes.subarray(at));
        expect(await logs.text()).toBe(Buffer.from(text).toString());
      },
    ),
  );
});

test('a flood is cut, and its end is known', async () => {
  const logs = new LogHead(MARK);
  for (let i = 0; i < 100; i++) logs.add(Buffer.from('x'.repeat(10_000)));
  logs.add(Buffer.from(`the last words${MARK}`));
  const text = await logs.text();
  expect(text.length).toBeLessThan(70_000);
  expect(text).toContain('more characters');
  expect(logs.last()).toEndWith('the last words');
});
