import { expect, test } from 'bun:test';
import { AppError } from '../../src/errors/app-error.ts';
import { parseAllow } from './allow.ts';

const CASES: ReadonlyArray<
  readonly [entry: string, host: string, address: string, port: number, allowed: boolean]
> = [
  ['ollama.lan', 'ollama.lan', '192.168.1.5', 11434, true],
  ['Ollama.LAN', 'ollama.lan', '192.168.1.5', 80, true],
  ['ollama.lan', 'evil.ollama.lan', '192.168.1.5', 80, false],
  ['ollama.lan:11434', 'ollama.lan', '192.168.1.5', 11434, true],
  ['ollama.lan:11434', 'ollama.lan', '192.168.1.5', 22, false],
  ['192.168.1.5', 'any.name', '192.168.1.5', 80, true],
  ['192.168.1.5', 'any.name', '192.168.1.6', 80, false],
  ['192.168.1.5:80', 'any.name', '192.168.1.5', 81, false],
  ['192.168.1.0/24', '192.168.1.77', '192.168.1.77', 80, true],
  ['192.168.1.0/24', '192.168.2.77', '192.168.2.77', 80, false],
  ['192.168.1.0/24:80', '192.168.1.77', '192.168.1.77', 443, false],
  ['192.168.1.0/24', '::ffff:c0a8:14d', '::ffff:c0a8:14d', 80, true],
  ['::1', 'localhost', '::1', 80, true],
  ['[::1]:80', 'localhost', '::1', 80, true],
  ['[::1]:80', 'localhost', '::1', 81, false],
  ['fd00::/8', 'box', 'fd12::1', 80, true],
  ['fd00::/8', 'box', '10.0.0.1', 80, false],
];

for (const [entry, host, address, port, allowed] of CASES)
  test(`${entry} ${allowed ? 'allows' : 'does not allow'} ${host} at ${address} port ${port}`, () =>
    expect(parseAllow([entry])({ host, address, port })).toBe(allowed));

test('nothing is allowed by an empty list', () =>
  expect(parseAllow([])({ host: 'a', address: '10.0.0.1', port: 80 })).toBe(false));

for (const entry of [
  '',
  'http://x',
  'a b',
  '192.168.1.0/33',
  '300.1.1.1',
  '1.2.3',
  '[::1',
  'x:port',
  '*',
  '*.lan',
])
  test(`refuses the entry ${JSON.stringify(entry)} and names it`, () => {
    let thrown: unknown;
    try {
      parseAllow(['fine.lan', entry]);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(AppError);
    expect((thrown as AppError).violations[0]?.field).toBe('outbound.allow');
    expect((thrown as AppError).message).toContain(JSON.stringify(entry));
  });
