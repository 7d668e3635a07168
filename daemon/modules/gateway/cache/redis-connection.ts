import { isIP, type Socket } from 'node:net';
import { RedisClient } from 'bun';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { Outbound, Trust } from '../../../outbound/outbound.ts';

/** A Redis server, as the configuration names it. */
export interface RedisPlace {
  /** `host:port` or `rediss://host:port`. */
  readonly address: string;
  readonly db: number;
  readonly trust: Trust;
}

/** An answer that takes longer is not waited for. */
const COMMAND_MS = 250;
const CONNECT_MS = 2 * SECOND_MS;
const FIRST_PAUSE_MS = SECOND_MS;
const LONGEST_PAUSE_MS = 30 * SECOND_MS;

/**
 * One connection to a Redis, on which all commands go one after the other without waiting. While it is not there, nobody waits for it: it is
 * opened apart from requests, and after a failure only when a pause is over, which doubles up to half a minute.
 */
export class RedisConnection {
  private client: RedisClient | undefined;
  private opening: Promise<void> | undefined;
  private pauseMs = FIRST_PAUSE_MS;
  private closedUntil = 0;
  private isEnded = false;

  constructor(
    private readonly place: RedisPlace,
    private readonly password: () => string,
    private readonly outbound: Pick<Outbound, 'connect'>,
  ) {}

  /** What `work` gives; undefined when there is no connection, or when it fails or takes too long. */
  async run<T>(work: (client: RedisClient) => Promise<T>, ms = COMMAND_MS): Promise<T | undefined> {
    const { client } = this;
    if (!client) {
      this.open();
      return undefined;
    }
    try {
      const answer = await within(ms, work(client));
      this.pauseMs = FIRST_PAUSE_MS;
      return answer;
    } catch {
      this.failed(client);
      return undefined;
    }
  }

  /** Opens it now, unless a pause is on. Resolves when that is done, whatever came of it. */
  open(): Promise<void> | undefined {
    if (this.isEnded || this.client || performance.now() < this.closedUntil) return this.opening;
    this.opening ??= this.connect()
      .catch(() => this.pause())
      .finally(() => {
        this.opening = undefined;
      });
    return this.opening;
  }

  close(): void {
    this.isEnded = true;
    this.client?.close();
    this.client = undefined;
  }

  private async connect(): Promise<void> {
    const { address, db } = this.place;
    const [, scheme, authority = address] = /^(rediss?):\/\/(.*)$/.exec(address) ?? [];
    const pinned = await this.pinned(authority);
    const secure = scheme === 'rediss';
    const host = authority.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
    const client = new RedisClient(`${secure ? 'rediss' : 'redis'}://${this.credentials()}${pinned}/${db}`, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: CONNECT_MS,
      ...(secure ? { tls: isIP(host) ? true : { serverName: host } } : {}),
    });
    client.onclose = () => this.failed(client);
    await within(CONNECT_MS, client.connect()).catch((error: unknown) => {
      client.close();
      throw error;
    });
    if (this.isEnded) return client.close();
    this.client = client;
  }

  /** The address that the guard has resolved and let through: the client dials exactly this one, and no name. */
  private async pinned(authority: string): Promise<string> {
    const { trust } = this.place;
    const probe = (await this.outbound.connect({ authority, trust, field: 'cache.redisAddress' })) as Socket;
    const { remoteAddress, remotePort } = probe;
    probe.destroy();
    if (!remoteAddress) throw new Error('the connection was closed');
    return `${isIP(remoteAddress) === 6 ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
  }

  /** The password of the configuration goes to the server of the configuration, and nowhere else. */
  private credentials(): string {
    const secret = this.place.trust === 'operator' ? this.password() : '';
    if (secret === '') return '';
    const colon = secret.indexOf(':');
    const [user, password] = colon < 0 ? ['', secret] : [secret.slice(0, colon), secret.slice(colon + 1)];
    return `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`;
  }

  private failed(client: RedisClient): void {
    if (this.client !== client) return;
    this.client = undefined;
    client.close();
    this.pause();
  }

  private pause(): void {
    this.closedUntil = performance.now() + this.pauseMs;
    this.pauseMs = Math.min(LONGEST_PAUSE_MS, this.pauseMs * 2);
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
