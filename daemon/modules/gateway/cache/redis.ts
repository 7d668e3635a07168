import { fail } from '../../../../src/errors/app-error.ts';
import { type Clock, SECOND_MS } from '../../../../src/kit/time.ts';
import type { AnswerStore, Holdings, KeptAnswer } from './answer.ts';
import type { RedisConnection } from './redis-connection.ts';
import { keyOf, type RequestKey } from './request-key.ts';

const CLEAR_MS = 30 * SECOND_MS;
const SCANNED_AT_ONCE = '500';

/** Answers in a Redis, for several nodes together. What it cannot give is not there, and costs no wait. */
export class RedisAnswers implements AnswerStore {
  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
  ) {}

  async find(tenant: string, { place, proof }: RequestKey): Promise<KeptAnswer | undefined> {
    const text = await this.connection.run((client) => client.get(prefixOf(tenant) + place));
    const found = text ? parsed(text) : undefined;
    if (!found || found.proof !== proof || !(found.answer.expiresAt > this.clock.now())) return undefined;
    return found.answer;
  }

  keep(tenant: string, { place, proof }: RequestKey, answer: KeptAnswer): void {
    const ms = Math.ceil(answer.expiresAt - this.clock.now());
    if (ms <= 0) return;
    const value = JSON.stringify({ proof, answer });
    void this.connection.run((client) => client.set(prefixOf(tenant) + place, value, 'PX', ms));
  }

  async clear(tenant: string): Promise<number> {
    await this.connection.open();
    const gone = await this.connection.run(async (client) => {
      let [cursor, count] = ['0', 0];
      do {
        const [next, keys] = await client.scan(
          cursor,
          'MATCH',
          `${prefixOf(tenant)}*`,
          'COUNT',
          SCANNED_AT_ONCE,
        );
        if (keys.length > 0) count += await client.unlink(...(keys as [string, ...string[]]));
        cursor = String(next);
      } while (cursor !== '0');
      return count;
    }, CLEAR_MS);
    if (gone === undefined) throw fail('cache_unreachable');
    return gone;
  }

  holdings(): Holdings {
    return { entries: undefined, bytes: undefined };
  }
}

/** What a tenant's keys begin with. A hash, so that no id can reach into the pattern of another. */
function prefixOf(tenant: string): string {
  return `svc:cache:${keyOf(tenant).proof.slice(0, 22)}:`;
}

/** What another program has put there is no answer. */
function parsed(text: string): { proof: string; answer: KeptAnswer } | undefined {
  try {
    const value = JSON.parse(text) as { proof?: unknown; answer?: Partial<KeptAnswer> } | null;
    const { contentType, body, model, keptAt, expiresAt } = value?.answer ?? {};
    const texts = [value?.proof, contentType, body, model].every((one) => typeof one === 'string');
    const times = [keptAt, expiresAt].every((one) => typeof one === 'number');
    return texts && times ? (value as { proof: string; answer: KeptAnswer }) : undefined;
  } catch {
    return undefined;
  }
}
