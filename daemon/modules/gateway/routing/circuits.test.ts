import { expect, test } from 'bun:test';
import { UpstreamError } from '../upstream/error.ts';
import { Circuits } from './circuits.ts';

function open() {
  const time = { now: 0 };
  return { time, circuits: new Circuits({ now: () => time.now }) };
}

const server = new UpstreamError('server', 'down');

test('a key rests after five failures in a row, longer each time, and an answer ends it', () => {
  const { time, circuits } = open();
  for (let i = 0; i < 4; i++) circuits.failed('k', server);
  expect(circuits.rests('k')).toBe(false);
  circuits.failed('k', server);
  expect(circuits.restMs('k')).toBe(5_000);
  time.now = 5_000;
  expect(circuits.rests('k')).toBe(false);
  circuits.failed('k', server);
  expect(circuits.restMs('k')).toBe(10_000);
  circuits.answered('k');
  expect(circuits.rests('k')).toBe(false);
  circuits.failed('k', server);
  expect(circuits.rests('k')).toBe(false);
});

test('a limited key rests as long as it asks for, but not for ever', () => {
  const { circuits } = open();
  circuits.failed('k', new UpstreamError('rate_limit', 'slow', { retryAfterMs: 7_000 }));
  expect(circuits.restMs('k')).toBe(7_000);
  circuits.failed('k', new UpstreamError('rate_limit', 'slow', { retryAfterMs: 86_400_000 }));
  expect(circuits.restMs('k')).toBe(120_000);
});

test('what is wrong with a request says nothing about the key', () => {
  const { circuits } = open();
  for (let i = 0; i < 20; i++) circuits.failed('k', new UpstreamError('request', 'bad'));
  expect(circuits.rests('k')).toBe(false);
});

test('calls under way are counted', () => {
  const { circuits } = open();
  circuits.began('k');
  circuits.began('k');
  circuits.ended('k');
  expect(circuits.load('k')).toBe(1);
  expect(circuits.load('other')).toBe(0);
});

test('what is known does not grow without a bound, and calls under way stay counted', () => {
  const { circuits } = open();
  circuits.began('busy');
  for (let i = 0; i < 30_000; i++) circuits.failed(`k${i}`, server);
  expect(circuits.size).toBeLessThanOrEqual(10_000);
  expect(circuits.load('busy')).toBe(1);
});
