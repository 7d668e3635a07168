import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { FrameReader } from './demux.ts';

const frame = fc.record({
  channel: fc.constantFrom('stdout' as const, 'stderr' as const),
  bytes: fc.uint8Array({ maxLength: 40 }),
});

function encode(frames: ReadonlyArray<{ channel: 'stdout' | 'stderr'; bytes: Uint8Array }>): Uint8Array {
  const parts = frames.map(({ channel, bytes }) => {
    const header = new Uint8Array(8);
    header[0] = channel === 'stdout' ? 1 : 2;
    new DataView(header.buffer).setUint32(4, bytes.length);
    return Buffer.concat([header, bytes]);
  });
  return Buffer.concat(parts);
}

test('frames cut anywhere give the same bytes on the same channels, in order', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 30 })),
      (frames, cuts) => {
        const stream = encode(frames);
        const reader = new FrameReader();
        const seen: string[] = [];
        let at = 0;
        for (let i = 0; at < stream.length; i++) {
          const end = at + (cuts[i % Math.max(1, cuts.length)] ?? stream.length);
          for (const { channel, bytes } of reader.read(stream.subarray(at, end)))
            seen.push(...Array.from(bytes, (byte) => `${channel} ${byte}`));
          at = end;
        }
        const sent = frames.flatMap(({ channel, bytes }) =>
          Array.from(bytes, (byte) => `${channel} ${byte}`),
        );
        expect(seen).toEqual(sent);
      },
    ),
    { numRuns: 500 },
  );
});
