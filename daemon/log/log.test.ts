import { expect, test } from 'bun:test';
import { createLog } from './log.ts';

function capture(format: 'json' | 'text') {
  const lines: string[] = [];
  return { lines, log: createLog({ level: 'info', format, write: (line) => lines.push(line) }) };
}

const KEY = 's_0123456789abcdefghijklmnopqrstuvwxyz';

test.each(['json', 'text'] as const)('no secret leaves through a %s line', (format) => {
  const { lines, log } = capture(format);
  log.info(`key ${KEY}`, {
    apiKey: KEY,
    headers: { authorization: `Bearer ${KEY}` },
    note: `used sk-abcdefgh12345678`,
    password: 'hunter2',
  });
  log.with({ token: KEY }).error('failed', { error: new Error(`bad ${KEY}`) });
  expect(lines).toHaveLength(2);
  const all = lines.join('');
  for (const secret of [KEY, 'sk-abcdefgh12345678', 'hunter2']) expect(all).not.toContain(secret);
  expect(all).toContain('[redacted]');
});

test('a JSON line has time, level, message and fields', () => {
  const { lines, log } = capture('json');
  log.warn('disk is low', { left: 5 });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', message: 'disk is low', left: 5 });
});

test('what is below the level is not logged', () => {
  const { lines, log } = capture('text');
  log.debug('quiet');
  expect(lines).toEqual([]);
});
