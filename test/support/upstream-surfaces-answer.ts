import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

/** A vector that only the text gives: numbers from -1 to 1 that 32-bit floats hold exactly. */
export function vectorOf(text: string, dimensions = 8): number[] {
  return Array.from({ length: dimensions }, (_, place) => {
    const digest = createHash('sha256')
      .update(`${Math.floor(place / 32)} ${text}`)
      .digest();
    return ((digest[place % 32] ?? 0) - 128) / 128;
  });
}

/** Base64 of a vector's little-endian 32-bit floats. */
export function packed(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}

/** A picture of one color that only the seed gives. */
export function pngOf(seed: string | Uint8Array, side = 16): Buffer<ArrayBuffer> {
  const [red = 0, green = 0, blue = 0] = createHash('sha256').update(seed).digest();
  const row = Buffer.concat([
    Buffer.from([0]),
    ...Array.from({ length: side }, () => Buffer.from([red, green, blue])),
  ]);
  const size = Buffer.alloc(8);
  size.writeUInt32BE(side, 0);
  size.writeUInt32BE(side, 4);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', Buffer.concat([size, Buffer.from([8, 2, 0, 0, 0])])),
    chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: side }, () => row)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

const RATE = 8000;
const SAMPLES_PER_LETTER = 400;

/** A sound whose length is that of the text: 50 ms a letter, 8 kHz, 16 bits. */
export function wavOf(text: string): Buffer<ArrayBuffer> {
  const samples = text.length * SAMPLES_PER_LETTER;
  const wav = Buffer.alloc(44 + samples * 2);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(RATE, 24);
  wav.writeUInt32LE(RATE * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(samples * 2, 40);
  for (let at = 0; at < samples; at++) {
    const letter = text.charCodeAt(Math.floor(at / SAMPLES_PER_LETTER));
    wav.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * letter * 4 * at) / RATE)), 44 + at * 2);
  }
  return wav;
}

/** What is "heard" in a file: its name, its size and a part of its digest, so that only these very bytes give it. */
export function heardIn(name: string, bytes: Uint8Array): string {
  return `${name} ${bytes.length} ${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}`;
}
