import { expect, test } from 'bun:test';
import { Reads } from './reads.ts';

const MB = 1024 * 1024;

/** Reads so many MB in blocks, this share of them from the disk. */
function read(reads: Reads, megabytes: number, share: number, from = 0): number {
  let blocks = from;
  for (let at = 0; at < megabytes; at += 0.25) {
    blocks += (share * MB) / 4 / 512;
    reads.saw(MB / 4, blocks);
  }
  return blocks;
}

test('a file whose later part is on the disk only is cold, and not before', () => {
  const reads = new Reads();
  const blocks = read(reads, 14, 1);
  expect(reads.isCold).toBe(false);
  read(reads, 10, 1, blocks);
  expect(reads.isCold).toBe(true);
});

test.each([0, 0.3])('a file of which %d is on the disk only is not', (share) => {
  const reads = new Reads();
  read(reads, 64, share);
  expect(reads.isCold).toBe(false);
});
