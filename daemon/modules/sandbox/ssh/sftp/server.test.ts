import { beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { silentLog } from '../../../../log/log.ts';
import { MemoryFiles } from '../testing/memory-files.ts';
import { MOST_HANDLES } from './handles.ts';
import { type SftpChannel, serveSftp } from './server.ts';
import { ANSWER, MOST_DATA, PacketCutter, PacketReader, PacketWriter, REQUEST, STATUS } from './wire.ts';

const places = { start: '/workspace', home: '/home/svc' };
const OPEN = { read: 1, write: 2, create: 8, exclusive: 32 };

/** A peer that sends packets and reads the answers, by their ids. */
class TestPeer {
  readonly files = new MemoryFiles();
  readonly answers = new Map<number, PacketReader & { type: number }>();
  /** The answers' ids, in the order in which they came. */
  readonly order: number[] = [];
  version: PacketReader | undefined;
  exitCode: number | undefined;
  readonly served: Promise<void>;
  private take: (bytes: Uint8Array) => Promise<unknown> = async () => undefined;
  private ended: () => void = () => undefined;
  private readonly cutter = new PacketCutter();
  private readonly controller = new AbortController();
  private id = 0;
  /** A channel hands on one piece at a time. */
  private sent: Promise<unknown> = Promise.resolve();

  constructor() {
    const channel: SftpChannel = {
      gone: this.controller.signal,
      read: (take, ended) => {
        this.take = take;
        this.ended = ended;
      },
      write: async (_, bytes) => {
        for (const packet of this.cutter.add(bytes)) this.note(packet);
      },
      exit: async ({ code }) => {
        this.exitCode = code;
      },
    };
    this.served = serveSftp(channel, this.files, places, silentLog);
  }

  async greet(): Promise<this> {
    await this.raw(new PacketWriter(REQUEST.init).uint32(3).end());
    return this;
  }

  raw(bytes: Uint8Array): Promise<unknown> {
    return this.take(bytes);
  }

  /** Sends a request without waiting for its answer; answers its id. */
  send(type: number, fields: (packet: PacketWriter) => PacketWriter): number {
    const id = ++this.id;
    const bytes = fields(new PacketWriter(type, id)).end();
    this.sent = this.sent.then(() => this.take(bytes));
    return id;
  }

  /** Sends a request and waits for its answer. */
  async ask(type: number, fields: (packet: PacketWriter) => PacketWriter) {
    const id = this.send(type, fields);
    return this.answer(id);
  }

  async answer(id: number) {
    for (let i = 0; i < 1000 && !this.answers.has(id); i++) await Bun.sleep(0);
    const found = this.answers.get(id);
    if (!found) throw new Error(`no answer to ${id}`);
    return found;
  }

  /** The status that a request is answered with. */
  async status(type: number, fields: (packet: PacketWriter) => PacketWriter): Promise<number> {
    const answer = await this.ask(type, fields);
    expect(answer.type).toBe(ANSWER.status);
    return answer.uint32();
  }

  async open(path: string, flags: number): Promise<Uint8Array> {
    const answer = await this.ask(REQUEST.open, (packet) => packet.text(path).uint32(flags).attributes({}));
    expect(answer.type).toBe(ANSWER.handle);
    return answer.data();
  }

  end(): Promise<void> {
    this.ended();
    return this.served;
  }

  leave(): Promise<void> {
    this.controller.abort();
    return this.served;
  }

  private note(packet: Uint8Array): void {
    const reader = new PacketReader(packet);
    const type = reader.byte();
    if (type === ANSWER.version) {
      this.version = reader;
      return;
    }
    const id = reader.uint32();
    this.order.push(id);
    this.answers.set(id, Object.assign(reader, { type }));
  }
}

let peer: TestPeer;
beforeEach(async () => {
  peer = await new TestPeer().greet();
  peer.files.nodes.set('/workspace', {
    kind: 'directory',
    bytes: new Uint8Array(),
    target: '',
    mode: 0o755,
    modifiedAt: 0,
  });
});

describe('a session', () => {
  test('speaks version 3 and announces the extensions that clients look for', () => {
    expect(peer.version?.uint32()).toBe(3);
    const names: string[] = [];
    while (!peer.version?.isAtEnd) {
      names.push(peer.version?.text() ?? '');
      peer.version?.text();
    }
    expect(names).toContain('posix-rename@openssh.com');
    expect(names).toContain('fsync@openssh.com');
  });

  test('ends with 0 when the peer ends it, and lets go of everything', async () => {
    await peer.open('a', OPEN.write | OPEN.create);
    await peer.end();
    expect(peer.exitCode).toBe(0);
    expect(peer.files).toMatchObject({ openFiles: 0, isClosed: true });
  });

  test('lets go of everything when the peer is gone', async () => {
    await peer.open('a', OPEN.write | OPEN.create);
    await peer.leave();
    expect(peer.files).toMatchObject({ openFiles: 0, isClosed: true });
  });

  test.each([
    ['does not begin with INIT', new PacketWriter(REQUEST.stat, 1).text('/').end()],
    ['sends a packet that is too large', new Uint8Array([255, 255, 255, 255])],
    ['sends a packet without an id', new Uint8Array([0, 0, 0, 1, 17])],
  ])('of a peer that %s is ended', async (_, bytes) => {
    const bad = new TestPeer();
    if (bytes[4] !== REQUEST.stat || bytes.length === 5) await bad.greet();
    await bad.raw(bytes);
    await bad.served;
    expect(bad.exitCode).toBe(1);
    expect(bad.files.isClosed).toBe(true);
  });

  test('answers every request of random bytes with a status, or is ended', async () => {
    const types = fc.constantFrom(...Object.values(REQUEST), 99, 255);
    const request = fc.tuple(types, fc.uint8Array({ maxLength: 40 }));
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 8 }), async (requests) => {
        const one = await new TestPeer().greet();
        for (const [i, [type, bytes]] of requests.entries()) {
          const packet = new PacketWriter(type, i);
          for (const byte of bytes) packet.byte(byte);
          await one.raw(packet.end());
        }
        await one.end();
        expect(one.order.toSorted((a, b) => a - b)).toEqual(requests.map((_, i) => i));
        expect(one.files.openFiles).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('files', () => {
  test('are written and read in pieces, at any position', async () => {
    const handle = await peer.open('/workspace/a', OPEN.read | OPEN.write | OPEN.create);
    const write = (at: number, text: string) =>
      peer.status(REQUEST.write, (packet) => packet.data(handle).uint64(at).text(text));
    expect([await write(0, 'hello'), await write(5, ' world')]).toEqual([STATUS.ok, STATUS.ok]);
    const read = await peer.ask(REQUEST.read, (packet) => packet.data(handle).uint64(6).uint32(100));
    expect(read.text()).toBe('world');
    expect(await peer.status(REQUEST.read, (packet) => packet.data(handle).uint64(11).uint32(100))).toBe(
      STATUS.eof,
    );
  });

  test('give at most one packet of bytes at once', async () => {
    const handle = await peer.open('big', OPEN.read | OPEN.write | OPEN.create);
    await peer.status(REQUEST.fsetstat, (packet) => packet.data(handle).attributes({ size: 2 * MOST_DATA }));
    const read = await peer.ask(REQUEST.read, (packet) => packet.data(handle).uint64(0).uint32(0xffff_ffff));
    expect(read.data().length).toBe(MOST_DATA);
  });

  test('have the attributes that were set, type included', async () => {
    const handle = await peer.open('a', OPEN.write | OPEN.create);
    const attributes = { mode: 0o100640, accessedAt: 5, modifiedAt: 7 };
    await peer.status(REQUEST.fsetstat, (packet) => packet.data(handle).attributes(attributes));
    const answer = await peer.ask(REQUEST.lstat, (packet) => packet.text('a'));
    expect(answer.attributes()).toMatchObject({ mode: 0o100640, modifiedAt: 7, size: 0, uid: 1000 });
  });

  test('are found from where commands start when their path is relative', async () => {
    await peer.open('x', OPEN.write | OPEN.create);
    expect(peer.files.nodes.has('/workspace/x')).toBe(true);
    const answer = await peer.ask(REQUEST.realpath, (packet) => packet.text('.'));
    expect([answer.uint32(), answer.text()]).toEqual([1, '/workspace']);
  });

  test.each([
    [
      'a file that is not there',
      REQUEST.stat,
      (packet: PacketWriter) => packet.text('/nothing'),
      STATUS.noSuchFile,
    ],
    [
      'an owner that may not be set',
      REQUEST.setstat,
      (packet: PacketWriter) => packet.text('/workspace').attributes({ uid: 0, gid: 0 }),
      STATUS.permissionDenied,
    ],
    [
      'a directory that is there',
      REQUEST.mkdir,
      (packet: PacketWriter) => packet.text('/workspace').attributes({}),
      STATUS.failure,
    ],
    ['a handle that is none', REQUEST.fstat, (packet: PacketWriter) => packet.text('17'), STATUS.failure],
    ['a request that nobody knows', 99, (packet: PacketWriter) => packet, STATUS.unsupported],
    [
      'an extension that nobody knows',
      REQUEST.extended,
      (packet: PacketWriter) => packet.text('x@y'),
      STATUS.unsupported,
    ],
    ['half a request', REQUEST.rename, (packet: PacketWriter) => packet.text('/a'), STATUS.badMessage],
    ['a path with a NUL', REQUEST.stat, (packet: PacketWriter) => packet.text('/a\0b'), STATUS.noSuchFile],
  ])('%s is answered with its status', async (_, type, fields, expected) => {
    expect(await peer.status(type, fields)).toBe(expected);
  });

  test('are not replaced by a plain rename, and are by that of POSIX', async () => {
    await peer.open('a', OPEN.write | OPEN.create);
    await peer.open('b', OPEN.write | OPEN.create);
    expect(await peer.status(REQUEST.rename, (packet) => packet.text('a').text('b'))).toBe(STATUS.failure);
    const posix = (packet: PacketWriter) => packet.text('posix-rename@openssh.com').text('a').text('b');
    expect(await peer.status(REQUEST.extended, posix)).toBe(STATUS.ok);
    expect(peer.files.nodes.has('/workspace/a')).toBe(false);
  });

  test('links are made as OpenSSH sends them: the target first', async () => {
    await peer.status(REQUEST.symlink, (packet) => packet.text('target').text('link'));
    const answer = await peer.ask(REQUEST.readlink, (packet) => packet.text('link'));
    expect([answer.uint32(), answer.text()]).toEqual([1, 'target']);
  });

  test('of a large directory are listed in parts, each once', async () => {
    const names = Array.from({ length: 250 }, (_, i) => `f${i}`);
    for (const name of names) await peer.files.open(`/workspace/${name}`, { create: true });
    const handle = (await peer.ask(REQUEST.opendir, (packet) => packet.text('.'))).data();
    const found: string[] = [];
    for (;;) {
      const answer = await peer.ask(REQUEST.readdir, (packet) => packet.data(handle));
      if (answer.type === ANSWER.status) break;
      for (let left = answer.uint32(); left > 0; left--) {
        found.push(answer.text());
        expect(answer.text()).toStartWith('-rwxr-xr-x');
        answer.attributes();
      }
    }
    expect(found.toSorted()).toEqual(names.toSorted());
  });
});

describe('many requests at once', () => {
  test('do not wait for each other when they read, and keep their order otherwise', async () => {
    const handle = await peer.open('a', OPEN.read | OPEN.write | OPEN.create);
    await peer.status(REQUEST.write, (packet) => packet.data(handle).uint64(0).text('0123456789'));
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    peer.files.before = (what) => (what === 'read 0' ? gate : Promise.resolve());
    const slow = peer.send(REQUEST.read, (packet) => packet.data(handle).uint64(0).uint32(1));
    const quick = peer.send(REQUEST.read, (packet) => packet.data(handle).uint64(1).uint32(1));
    const close = peer.send(REQUEST.close, (packet) => packet.data(handle));
    await peer.answer(quick);
    expect(peer.answers.has(slow) || peer.answers.has(close)).toBe(false);
    open();
    await peer.answer(close);
    expect(peer.order.slice(-3)).toEqual([quick, slow, close]);
  });

  test('are taken up to a bound: the peer has to wait', async () => {
    const handle = await peer.open('a', OPEN.read | OPEN.write | OPEN.create);
    await peer.status(REQUEST.fsetstat, (packet) => packet.data(handle).attributes({ size: 1000 }));
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let begun = 0;
    peer.files.before = () => {
      begun++;
      return gate;
    };
    const ids = Array.from({ length: 200 }, (_, i) =>
      peer.send(REQUEST.read, (packet) => packet.data(handle).uint64(i).uint32(1)),
    );
    await Bun.sleep(20);
    expect(begun).toBeLessThanOrEqual(64);
    open();
    await Promise.all(ids.map((id) => peer.answer(id)));
  });

  test('cannot open more files than there are handles', async () => {
    for (let i = 0; i < MOST_HANDLES; i++) await peer.open(`f${i}`, OPEN.write | OPEN.create);
    const again = (packet: PacketWriter) =>
      packet
        .text('one more')
        .uint32(OPEN.write | OPEN.create)
        .attributes({});
    expect(await peer.status(REQUEST.open, again)).toBe(STATUS.failure);
  });
});
