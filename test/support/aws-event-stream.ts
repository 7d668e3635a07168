import { crc32 } from 'node:zlib';

/** One message of application/vnd.amazon.eventstream: a JSON payload, padded as the real service does, and text headers. */
export function frame(headers: Record<string, string>, payload: object): Buffer {
  const listed = Object.entries({ ...headers, ':content-type': 'application/json' }).map(([name, value]) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(Buffer.byteLength(value));
    return Buffer.concat([
      Buffer.from([name.length]),
      Buffer.from(name),
      Buffer.from([7]),
      length,
      Buffer.from(value),
    ]);
  });
  const head = Buffer.concat(listed);
  const body = Buffer.from(JSON.stringify({ ...payload, p: 'abcdefgh' }));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, head, body]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(message));
  return Buffer.concat([message, check]);
}
