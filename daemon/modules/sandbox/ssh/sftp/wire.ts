/**
 * The packets of SFTP version 3 (draft-ietf-secsh-filexfer-02) with OpenSSH's extensions (PROTOCOL of OpenSSH).
 */

/** Requests. */
export const REQUEST = {
  init: 1,
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  lstat: 7,
  fstat: 8,
  setstat: 9,
  fsetstat: 10,
  opendir: 11,
  readdir: 12,
  remove: 13,
  mkdir: 14,
  rmdir: 15,
  realpath: 16,
  stat: 17,
  rename: 18,
  readlink: 19,
  symlink: 20,
  extended: 200,
} as const;

/** Answers. */
export const ANSWER = {
  version: 2,
  status: 101,
  handle: 102,
  data: 103,
  name: 104,
  attrs: 105,
  extended: 201,
} as const;

/** Status codes. */
export const STATUS = {
  ok: 0,
  eof: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  badMessage: 5,
  unsupported: 8,
} as const;

/** Largest packet that is taken, in bytes: as OpenSSH's. */
export const MOST_PACKET = 256 * 1024;
/** Largest piece of a file in one packet. */
export const MOST_DATA = MOST_PACKET - 1024;

/** Which parts of a file's attributes are there. */
const HAS = { size: 1, owner: 2, mode: 4, times: 8, extended: 0x8000_0000 } as const;

/** Attributes as they travel; times are seconds. */
export interface Attributes {
  readonly size?: number;
  readonly uid?: number;
  readonly gid?: number;
  /** Type and permission bits. */
  readonly mode?: number;
  readonly accessedAt?: number;
  readonly modifiedAt?: number;
}

/** A packet that is not what the protocol says. */
export class MalformedPacket extends Error {}

/** Reads the fields of a packet, in order. Errors: MalformedPacket. */
export class PacketReader {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    return this.view.getUint8(this.take(1));
  }

  uint32(): number {
    return this.view.getUint32(this.take(4));
  }

  /** A 64-bit number; beyond 2^53 it is no position of a file. */
  uint64(): number {
    const value = this.view.getBigUint64(this.take(8));
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new MalformedPacket('a position is too large');
    return Number(value);
  }

  data(): Uint8Array {
    const length = this.uint32();
    const from = this.take(length);
    return this.bytes.subarray(from, from + length);
  }

  text(): string {
    return new TextDecoder().decode(this.data());
  }

  attributes(): Attributes {
    const flags = this.uint32();
    const size = flags & HAS.size ? this.uint64() : undefined;
    const [uid, gid] = flags & HAS.owner ? [this.uint32(), this.uint32()] : [];
    const mode = flags & HAS.mode ? this.uint32() : undefined;
    const [accessedAt, modifiedAt] = flags & HAS.times ? [this.uint32(), this.uint32()] : [];
    if (flags & HAS.extended) for (let left = this.uint32(); left > 0; left--) this.skipPair();
    return { size, uid, gid, mode, accessedAt, modifiedAt };
  }

  private skipPair(): void {
    this.data();
    this.data();
  }

  private take(length: number): number {
    const from = this.at;
    if (from + length > this.bytes.length) throw new MalformedPacket('a packet is too short');
    this.at += length;
    return from;
  }
}

/** Writes a packet, field by field. */
export class PacketWriter {
  private bytes = Buffer.allocUnsafe(256);
  private at = 4;

  constructor(type: number, id?: number) {
    this.byte(type);
    if (id !== undefined) this.uint32(id);
  }

  byte(value: number): this {
    this.at = this.room(1).writeUInt8(value, this.at);
    return this;
  }

  uint32(value: number): this {
    this.at = this.room(4).writeUInt32BE(value >>> 0, this.at);
    return this;
  }

  uint64(value: number): this {
    this.at = this.room(8).writeBigUInt64BE(BigInt(value), this.at);
    return this;
  }

  data(value: Uint8Array): this {
    this.uint32(value.length);
    this.room(value.length).set(value, this.at);
    this.at += value.length;
    return this;
  }

  text(value: string): this {
    return this.data(new TextEncoder().encode(value));
  }

  attributes({ size, uid, gid, mode, accessedAt, modifiedAt }: Attributes): this {
    const hasOwner = uid !== undefined && gid !== undefined;
    const hasTimes = accessedAt !== undefined && modifiedAt !== undefined;
    this.uint32(
      (size === undefined ? 0 : HAS.size) |
        (hasOwner ? HAS.owner : 0) |
        (mode === undefined ? 0 : HAS.mode) |
        (hasTimes ? HAS.times : 0),
    );
    if (size !== undefined) this.uint64(size);
    if (hasOwner) this.uint32(uid).uint32(gid);
    if (mode !== undefined) this.uint32(mode);
    if (hasTimes) this.uint32(accessedAt).uint32(modifiedAt);
    return this;
  }

  /** The packet with its length in front. */
  end(): Uint8Array {
    this.bytes.writeUInt32BE(this.at - 4, 0);
    return this.bytes.subarray(0, this.at);
  }

  private room(more: number): Buffer {
    if (this.at + more > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.at + more));
      this.bytes.copy(larger, 0, 0, this.at);
      this.bytes = larger;
    }
    return this.bytes;
  }
}

/** Cuts a stream of bytes into packets. Errors: MalformedPacket when one is larger than MOST_PACKET. */
export class PacketCutter {
  private parts: Uint8Array[] = [];
  private length = 0;

  /** Takes bytes and answers the packets that are whole now, without their lengths. */
  add(bytes: Uint8Array): Uint8Array[] {
    this.parts.push(bytes);
    this.length += bytes.length;
    const packets: Uint8Array[] = [];
    for (let size = this.nextSize(); size !== undefined && this.length >= 4 + size; size = this.nextSize())
      packets.push(this.cut(4 + size).subarray(4));
    return packets;
  }

  private nextSize(): number | undefined {
    if (this.length < 4) return undefined;
    const head = this.parts[0] && this.parts[0].length >= 4 ? this.parts[0] : this.joined();
    const size = new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(0);
    if (size === 0 || size > MOST_PACKET) throw new MalformedPacket(`a packet of ${size} bytes`);
    return size;
  }

  private cut(size: number): Uint8Array {
    const all = this.parts[0] && this.parts[0].length >= size ? this.parts[0] : this.joined();
    const rest = all.subarray(size);
    this.parts = rest.length > 0 ? [rest, ...this.parts.slice(1)] : this.parts.slice(1);
    this.length -= size;
    return all.subarray(0, size);
  }

  private joined(): Uint8Array {
    const all = Buffer.concat(this.parts);
    this.parts = [all];
    return all;
  }
}
