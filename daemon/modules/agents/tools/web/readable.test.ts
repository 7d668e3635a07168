import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readableOf } from './readable.ts';

async function* whole(html: string) {
  yield html;
}
const read = async (html: string) => (await readableOf(whole(html), 'https://site.example/dir/page')).text;

test.each([
  ['headings and paragraphs', '<h2>A</h2><p>b  c\n d</p><p>e</p>', '## A\n\nb c d\n\ne'],
  ['emphasis', 'a <b>b</b><em>c</em> <code>d e</code>', 'a **b***c* `d e`'],
  [
    'lists in lists',
    '<ul><li>a<ol><li>b</li><li>c</li></ol></li><li>d</li></ul>',
    '- a\n  1. b\n  2. c\n- d',
  ],
  ['code by the letter', '<pre><code>a\n  b &lt; c</code></pre>', '```\na\n  b < c\n```'],
  ['tables', '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>', 'a | b\n1 | 2'],
  ['quotes', '<blockquote><p>a</p><p>b</p></blockquote>c', '> a\n\n> b\n\nc'],
  ['links against the address of the page', '<a href="../x?y=1">go</a>', '[go](https://site.example/x?y=1)'],
  [
    'links that lead nowhere as words',
    '<a href="#a">a</a> <a href="javascript:b()">b</a> <a>c</a> <a href="/d"></a>',
    'a b c',
  ],
  ['images as what they show', 'x <img src="/a.png" alt="a  whale"> y <img src="b">', 'x [image: a whale] y'],
  ['entities', 'a &amp; b &eacute; &#x1f642;', 'a & b é 🙂'],
  ['breaks', 'a<br>b<hr>c', 'a\nb\n\n---\n\nc'],
])('reads %s', async (_, html, text) => {
  expect(await read(html)).toBe(text);
});

const tag = fc.constantFrom(
  'p',
  'b',
  'ul',
  'li',
  'a href="/x"',
  'pre',
  'blockquote',
  'table',
  'td',
  'main',
  'nav',
  'script',
  'title',
  'svg',
  'h1',
);
const piece = fc.oneof(
  tag.map((name) => `<${name}>`),
  tag.map((name) => `</${name.split(' ')[0]}>`),
  fc.constantFrom('word', ' ', '\n', '&amp;', '<', '<!--', '-->', '"', 'é🙂', '<a href="', '</'),
);

test('any HTML gives the same text, in whatever pieces it comes, and never an error', async () => {
  const run = fc.asyncProperty(
    fc.array(piece, { maxLength: 80 }),
    fc.integer({ min: 1, max: 20 }),
    async (pieces, size) => {
      const html = pieces.join('');
      async function* split() {
        for (let at = 0; at < html.length; at += size) yield html.slice(at, at + size);
      }
      const parts = await readableOf(split(), 'https://site.example/');
      expect(parts.text).toBe((await readableOf(whole(html), 'https://site.example/')).text);
    },
  );
  await fc.assert(run, { numRuns: 200 });
});
