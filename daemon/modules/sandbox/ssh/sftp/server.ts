import type { Log } from '../../../../log/log.ts';
import type { BoxFiles } from '../../files/box-files.ts';
import type { PeerChannel } from '../server/channel.ts';
import { type Places, Requests, status } from './requests.ts';
import { Schedule } from './schedule.ts';
import { statusOf } from './status.ts';
import {
  ANSWER,
  MalformedPacket,
  PacketCutter,
  PacketReader,
  PacketWriter,
  REQUEST,
  STATUS,
} from './wire.ts';

const VERSION = 3;

/** Extensions, with their versions. */
const EXTENSIONS = {
  'posix-rename@openssh.com': '1',
  'hardlink@openssh.com': '1',
  'fsync@openssh.com': '1',
  'limits@openssh.com': '1',
  'expand-path@openssh.com': '1',
} as const;

/** The part of a channel that SFTP needs. */
export type SftpChannel = Pick<PeerChannel, 'read' | 'write' | 'exit' | 'gone'>;

/**
 * Serves SFTP on a channel until the peer ends it. ssh2's own SFTP stream is not used: it takes requests however
 * many wait, and announces no extensions, without which clients cannot rename over a file.
 */
export async function serveSftp(
  channel: SftpChannel,
  files: BoxFiles,
  places: Places,
  log: Log,
): Promise<void> {
  const session = new SftpSession(channel, new Requests(files, places, Date.now), log);
  try {
    await session.run();
  } finally {
    await session.end();
    await files.close();
  }
}

class SftpSession {
  private readonly cutter = new PacketCutter();
  private readonly schedule = new Schedule();
  private isGreeted = false;

  constructor(
    private readonly channel: SftpChannel,
    private readonly requests: Requests,
    private readonly log: Log,
  ) {}

  /** Resolves when the peer has ended its input, is gone, or does not speak the protocol. */
  async run(): Promise<void> {
    const code = await new Promise<number>((resolve) => {
      const take = (bytes: Uint8Array) =>
        this.take(bytes).catch((error: unknown) => resolve(this.failed(error)));
      this.channel.gone.addEventListener('abort', () => resolve(0), { once: true });
      if (this.channel.gone.aborted) resolve(0);
      this.channel.read(take, () => resolve(0));
    });
    await this.schedule.idle();
    await this.channel.exit({ code });
  }

  async end(): Promise<void> {
    await this.schedule.idle();
    await this.requests.end();
  }

  private async take(bytes: Uint8Array): Promise<void> {
    for (const packet of this.cutter.add(bytes)) await this.begin(packet);
  }

  private async begin(packet: Uint8Array): Promise<void> {
    const reader = new PacketReader(packet);
    const type = reader.byte();
    if (!this.isGreeted) return this.greet(type, reader);
    const id = reader.uint32();
    await this.schedule.start(type, weightOf(type, packet), () => this.answer(type, id, reader));
  }

  private async answer(type: number, id: number, reader: PacketReader): Promise<void> {
    const answer = await this.requests
      .answer(type, id, reader)
      .catch((error: unknown) => this.refusal(id, error));
    await this.channel.write('stdout', answer.end());
  }

  private refusal(id: number, error: unknown): PacketWriter {
    if (error instanceof MalformedPacket) return status(id, STATUS.badMessage, error.message);
    const { status: code, message } = statusOf(error);
    return status(id, code, message);
  }

  private async greet(type: number, reader: PacketReader): Promise<void> {
    if (type !== REQUEST.init) throw new MalformedPacket('the first packet is not INIT');
    reader.uint32();
    this.isGreeted = true;
    const answer = new PacketWriter(ANSWER.version).uint32(VERSION);
    for (const [name, version] of Object.entries(EXTENSIONS)) answer.text(name).text(version);
    await this.channel.write('stdout', answer.end());
  }

  private failed(error: unknown): number {
    this.log.debug('an SFTP session broke', { error });
    return 1;
  }
}

/** The bytes that a request holds in memory: those of the packet, and those that a READ asks for. */
function weightOf(type: number, packet: Uint8Array): number {
  return type === REQUEST.read ? READ_WEIGHT : packet.length;
}

const READ_WEIGHT = 64 * 1024;
