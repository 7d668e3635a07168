import { expect, test } from 'bun:test';
import { type Risk, riskOf } from './risk.ts';

test.each<[string, object, Risk[]]>([
  ['sandbox_shell', { command: 'ls -la' }, []],
  ['sandbox_shell', { command: 'rm -rf build' }, ['destructive']],
  ['sandbox_shell', { command: 'psql -c "DROP TABLE users"' }, ['destructive']],
  ['mcp__github__delete_repo', {}, ['destructive', 'external']],
  ['deleteUser', {}, ['destructive']],
  ['sandbox_shell', { command: './deploy.sh --env prod' }, ['production', 'sensitive']],
  ['web_fetch', { url: 'https://example.com' }, ['external']],
  ['refund_order', { amount: 5 }, ['billing']],
  ['sandbox_read_file', { path: '/etc/shadow' }, ['sensitive']],
  ['sandbox_write_file', { text: 'the arm of a farmer' }, []],
])('%s with %p: %p', (name, args, badges) => {
  expect(riskOf(name, JSON.stringify(args))).toEqual(badges);
});

test('only the beginning of long arguments is looked at', () => {
  const far = 'x '.repeat(20_000);
  expect(riskOf('write', JSON.stringify({ text: `${far} delete` }))).toEqual([]);
});
