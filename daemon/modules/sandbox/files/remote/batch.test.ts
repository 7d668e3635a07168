import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Batch, BLOCK } from './batch.ts';
import { RequestMemory } from './request-memory.ts';

/** A batch that writes contents of this length, as uploads do, and asks for something. */
function batchOf(contents: Uint8Array): Batch {
  const batch = new Batch();
  const place = batch.bytes(contents);
  batch.call('close', [3]);
  batch.call('pwrite', [3, place, contents.length, 0]);
  batch.call('fcntl', [3, 4, batch.path('/x')]);
  batch.call('pread', [3, batch.tail(4096), 4096, 0]);
  return batch;
}

test('a request has nothing in it of what its memory was used for before', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: BLOCK }), fc.boolean(), (length, isReady) => {
      const memory = RequestMemory.take();
      memory.whole.fill(0xaa);
      if (isReady) memory.contents.fill(7, 0, length);
      const contents = isReady ? memory.contents.subarray(0, length) : new Uint8Array(length).fill(7);
      const plain = batchOf(new Uint8Array(length).fill(7)).encode(5n);
      const used = batchOf(contents).encode(5n, memory.whole);
      expect(used.buffer === memory.whole.buffer).toBe(true);
      expect(Buffer.compare(used, plain)).toBe(0);
      memory.giveBack();
    }),
    { numRuns: 200 },
  );
});

test('memory is for others only when everybody has given it back', () => {
  const memory = RequestMemory.take();
  memory.hold().giveBack();
  const other = RequestMemory.take();
  expect(other).not.toBe(memory);
  memory.giveBack();
  expect(RequestMemory.take()).toBe(memory);
});
