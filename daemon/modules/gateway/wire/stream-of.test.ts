import { expect, test } from 'bun:test';
import { passBytes } from './pass-bytes.ts';
import { streamOf, streamOfSource } from './stream-of.ts';

const text = (stream: ReadableStream<Uint8Array>) => new Response(stream).text();

/** An endless source that counts what is taken of it. */
function counting() {
  const state = { taken: 0, isLeft: false };
  async function* pieces() {
    try {
      for (;;) {
        state.taken++;
        yield Buffer.from('x');
      }
    } finally {
      state.isLeft = true;
    }
  }
  return { state, pieces: pieces() };
}

test('a stream takes nothing before it is read, and ends its source when it is left', async () => {
  const { state, pieces } = counting();
  const reader = streamOf(pieces).getReader();
  await Bun.sleep(1);
  expect(state.taken).toBe(0);
  await reader.read();
  await reader.read();
  expect(state.taken).toBe(2);
  await reader.cancel();
  expect(state.isLeft).toBe(true);
});

test('a stream fails as its source does', async () => {
  async function* failing() {
    yield Buffer.from('a');
    throw new Error('gone');
  }
  await expect(text(streamOf(failing()))).rejects.toThrow('gone');
  expect(await text(streamOfSource(streamOf(one('ab')).getReader()))).toBe('ab');
});

test.each(['ended', 'failed', 'left'] as const)('bytes that %s tell of it once', async (how) => {
  const told: string[] = [];
  const ends = {
    ended: () => told.push('ended'),
    failed: () => told.push('failed'),
    left: () => told.push('left'),
  };
  async function* source() {
    yield Buffer.from('a');
    if (how === 'failed') throw new Error('gone');
  }
  const reader = passBytes(streamOf(source()).getReader(), {
    ended: () => void ends.ended(),
    failed: () => void ends.failed(),
    left: () => void ends.left(),
  }).getReader();
  await reader.read();
  if (how === 'left') await reader.cancel();
  else await reader.read().catch(() => undefined);
  expect(told).toEqual([how]);
});

async function* one(said: string) {
  yield Buffer.from(said);
}
