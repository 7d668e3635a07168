import type { App } from '../../../app.ts';
import type { RuntimeSettings } from '../../settings/index.ts';
import type { AnswerStore } from './answer.ts';
import { RedisAnswers } from './redis.ts';
import { RedisConnection, type RedisPlace } from './redis-connection.ts';

/** What the configuration of a tenant says of its Redis. */
type CachePlace = ReturnType<RuntimeSettings['of']>['cache'];

/** Most servers that are connected to at once; of more, the one that was unused for longest is left. */
const MOST_SERVERS = 64;

/** The Redis servers that tenants keep answers in: one connection each, whoever uses it. */
export class RedisStores {
  private readonly servers = new Map<string, { connection: RedisConnection; answers: RedisAnswers }>();

  constructor(private readonly app: Pick<App, 'config' | 'outbound' | 'clock'>) {}

  /** The store at an address; undefined when none is named. */
  of({ redisAddress: address, redisDb: db, redisTrust: trust }: CachePlace): AnswerStore | undefined {
    if (address === '') return undefined;
    const id = `${trust} ${db} ${address}`;
    const server = this.servers.get(id) ?? this.make({ address, db, trust });
    this.servers.delete(id);
    this.servers.set(id, server);
    if (this.servers.size > MOST_SERVERS) this.leaveOldest();
    return server.answers;
  }

  close(): void {
    for (const { connection } of this.servers.values()) connection.close();
    this.servers.clear();
  }

  private make(place: RedisPlace) {
    const { config, outbound, clock } = this.app;
    const connection = new RedisConnection(place, () => config.get('cache.redis.password'), outbound);
    return { connection, answers: new RedisAnswers(connection, clock) };
  }

  private leaveOldest(): void {
    const [oldest] = this.servers;
    if (!oldest) return;
    this.servers.delete(oldest[0]);
    oldest[1].connection.close();
  }
}
