import { describe, expect, test } from 'bun:test';
import type { ModelCall } from '../pipeline/call.ts';
import type { Settlement } from '../pipeline/settlement.ts';
import { UpstreamError } from '../upstream/error.ts';
import { relayEnds, type StreamReading, writtenEnds } from './stream-books.ts';

/** The books of one stream, and what was written in them. */
function open(more: Partial<StreamReading> = {}) {
  const caller = new AbortController();
  const written: unknown[] = [];
  const settlement = {
    model: 'p/m',
    used: (usage: unknown) => written.push(['used', usage]),
    finish: (ending: string, error?: unknown) =>
      written.push(error instanceof UpstreamError ? [ending, error.kind] : [ending]),
  } as unknown as Settlement;
  const reading: StreamReading = {
    usage: () => ({ input: 1, output: 2 }),
    isComplete: () => false,
    failure: () => Buffer.from('sorry'),
    over: () => written.push('over'),
    ...more,
  };
  const call = { signal: caller.signal } as ModelCall;
  return {
    caller,
    written,
    passed: relayEnds(call, settlement, reading),
    told: writtenEnds(call, settlement, reading),
  };
}

const taken = ['used', { input: 1, output: 2 }];

describe('bytes that pass', () => {
  test('are complete when their end has passed, also for a caller that then closes', () => {
    for (const end of ['ended', 'left'] as const) {
      const { written, passed } = open({ isComplete: () => true });
      expect(passed.last()).toBeUndefined();
      passed[end]();
      expect(written).toEqual([taken, 'over', ['completed']]);
    }
  });

  test('that stop before their end have failed, and the caller hears it', () => {
    const { written, passed } = open();
    expect(String(passed.last())).toBe('\n\nsorry');
    passed.ended();
    expect(written).toEqual([taken, 'over', ['failed', 'server']]);
  });

  test('without a word for the end are complete when they stop, and not when they are left', () => {
    const silent = open({ endsBySilence: true });
    expect(silent.passed.last()).toBeUndefined();
    silent.passed.ended();
    expect(silent.written.at(-1)).toEqual(['completed']);
    const left = open({ endsBySilence: true });
    left.passed.left();
    expect(left.written.at(-1)).toEqual(['stopped']);
  });

  test('of a connection that breaks are the fault of the provider, not of this program', () => {
    const { written, passed } = open();
    expect(String(passed.failed(new Error('reset')))).toBe('\n\nsorry');
    expect(written.at(-1)).toEqual(['failed', 'server']);
  });

  test('break off without a word for a caller that has left', () => {
    const { caller, written, passed } = open();
    caller.abort();
    expect(passed.failed(new Error('aborted'))).toBeUndefined();
    expect(written.at(-1)).toEqual(['stopped']);
  });
});

test('events that are written here end by themselves, by a failure, or are left', () => {
  const [ended, failed, left] = [open(), open(), open()];
  ended.told.ended();
  expect(String(failed.told.failed(new Error('reset')))).toBe('sorry');
  left.told.left();
  expect([ended, failed, left].map(({ written }) => written.at(-1))).toEqual([
    ['completed'],
    ['failed', 'server'],
    ['stopped'],
  ]);
});
