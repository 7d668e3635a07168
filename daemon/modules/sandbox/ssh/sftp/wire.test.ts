import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type Attributes,
  MalformedPacket,
  MOST_PACKET,
  PacketCutter,
  PacketReader,
  PacketWriter,
} from './wire.ts';

const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const attributes: fc.Arbitrary<Attributes> = fc.oneof(
  fc.constant({}),
  fc.record({
    size: fc.maxSafeNat(),
    uid: uint32,
    gid: uint32,
    mode: uint32,
    accessedAt: uint32,
    modifiedAt: uint32,
  }),
  fc.record({ mode: uint32 }),
);

describe('a packet', () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(
        uint32,
        fc.string(),
        fc.uint8Array(),
        fc.maxSafeNat(),
        attributes,
        (id, text, data, position, attrs) => {
          const bytes = new PacketWriter(7, id)
            .text(text)
            .data(data)
            .uint64(position)
            .attributes(attrs)
            .end();
          const reader = new PacketReader(bytes.subarray(4));
          expect([reader.byte(), reader.uint32()]).toEqual([7, id]);
          expect(reader.text()).toBe(new TextDecoder().decode(new TextEncoder().encode(text)));
          expect([...reader.data()]).toEqual([...data]);
          expect(reader.uint64()).toBe(position);
          expect(reader.attributes()).toEqual(attrs);
          expect(reader.isAtEnd).toBe(true);
        },
      ),
    );
  });

  test('of random bytes gives fields or MalformedPacket, nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const reader = new PacketReader(bytes);
        try {
          reader.attributes();
          reader.text();
          reader.uint64();
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedPacket);
        }
      }),
    );
  });

  test('that announces four thousand million extended attributes ends at its own end', () => {
    const bytes = new Uint8Array([0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(() => new PacketReader(bytes).attributes()).toThrow(MalformedPacket);
  });
});

describe('a stream of packets', () => {
  test('is cut the same, however its bytes arrive', () => {
    const packets = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 20 });
    fc.assert(
      fc.property(packets, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (all, cuts) => {
        const stream = Buffer.concat(all.flatMap((one) => [lengthOf(one.length), one]));
        const cutter = new PacketCutter();
        const found: Uint8Array[] = [];
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = cuts[i % cuts.length] ?? 1;
          found.push(...cutter.add(stream.subarray(at, at + size)));
          at += size;
        }
        expect(found.map((one) => [...one])).toEqual(all.map((one) => [...one]));
      }),
    );
  });

  test.each([[0], [MOST_PACKET + 1], [0xffff_ffff]])(
    'with a packet of %d bytes is refused at once',
    (length) => {
      expect(() => new PacketCutter().add(lengthOf(length))).toThrow(MalformedPacket);
    },
  );
});

function lengthOf(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}
