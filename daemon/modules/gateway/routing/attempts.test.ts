import { describe, expect, test } from 'bun:test';
import { AppError } from '../../../../src/errors/app-error.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import type { ProviderAccount } from '../../providers/index.ts';
import type { Attempt } from '../pipeline/record.ts';
import { type FailureKind, UpstreamError } from '../upstream/error.ts';
import { Attempts, type Patience, type Try } from './attempts.ts';
import type { Candidate, Chain } from './chain.ts';
import { Circuits } from './circuits.ts';

const outbound = {} as Outbound;
const signal = () => new AbortController().signal;
const patience: Patience = { retries: 1, timeoutMs: 60_000, hash: () => 0 };

function candidate(name: string, keys: readonly string[] = []): Candidate {
  const account: ProviderAccount = {
    name,
    dialect: 'openai',
    baseUrl: `http://${name}`,
    trust: 'operator',
    keys: keys.map((id) => ({ id, secret: `secret-${id}`, weight: 1 })),
    needsKey: keys.length > 0,
    settings: {},
  };
  return { account, adapter: {}, model: 'm', parameters: {}, weight: 1 };
}

const chainOf = (candidates: readonly Candidate[], strategy: Chain['strategy'] = 'priority'): Chain => ({
  resolvedBy: 'route',
  strategy,
  candidates,
});

/** Runs a chain over a script: what each provider (or key) does, by its calls. */
async function run(
  chain: Chain,
  script: Record<string, Array<FailureKind | 'ok' | 'hangs'>>,
  more: Partial<Patience> & { caller?: AbortSignal; circuits?: Circuits } = {},
) {
  const notes: Attempt[] = [];
  const attempts = new Attempts(outbound, more.circuits ?? new Circuits({ now: () => Date.now() }), () => 0);
  const attempt: Try<string> = async ({ account }, { key, signal: left }) => {
    const name = key?.id ?? account.name;
    const next = script[name]?.shift() ?? 'ok';
    if (next === 'ok') return name;
    if (next !== 'hangs') throw new UpstreamError(next, `${name} failed`, { retryAfterMs: 1 });
    return new Promise<string>((_, reject) => left.addEventListener('abort', () => reject(left.reason)));
  };
  const result = await attempts
    .run(chain, { ...patience, ...more }, more.caller ?? signal(), attempt, (one) => notes.push(one))
    .catch((error: unknown) => error);
  const path = notes.map(({ model, key, failure }) => `${key ?? model.split('/')[0]}:${failure ?? 'ok'}`);
  return { result, path };
}

describe('a chain by priority', () => {
  const chain = chainOf([candidate('a'), candidate('b'), candidate('c')]);

  test('asks the first, and nobody else when it answers', async () => {
    expect((await run(chain, {})).path).toEqual(['a:ok']);
  });

  test.each<FailureKind>(['rate_limit', 'timeout', 'server', 'network'])(
    'goes on after %s, when trying again did not help',
    async (kind) => {
      expect((await run(chain, { a: [kind, kind] })).path).toEqual([`a:${kind}`, `a:${kind}`, 'b:ok']);
    },
  );

  test.each<FailureKind>(['request', 'key', 'address'])('ends with %s: no other would help', async (kind) => {
    const { result, path } = await run(chain, { a: [kind] });
    expect(path).toEqual([`a:${kind}`]);
    expect(result).toMatchObject({ kind });
  });

  test('that fails altogether fails with the last failure', async () => {
    const { result, path } = await run(
      chain,
      { a: ['server'], b: ['timeout'], c: ['network'] },
      { retries: 0 },
    );
    expect(path).toEqual(['a:server', 'b:timeout', 'c:network']);
    expect(result).toMatchObject({ kind: 'network' });
  });

  test("a time that the caller has made short takes no key out of service; the instance's own does", async () => {
    const asleep = async (isImpatient: boolean) => {
      const circuits = new Circuits({ now: () => 0 });
      for (let i = 0; i < 6; i++)
        await run(
          chainOf([candidate('a', ['k'])]),
          { k: ['hangs'] },
          { retries: 0, timeoutMs: 1, isImpatient, circuits },
        );
      return circuits.rests('http://a k m');
    };
    expect(await asleep(true)).toBe(false);
    expect(await asleep(false)).toBe(true);
  });

  test('leaves an upstream that does not come to its first content in time', async () => {
    const { path } = await run(chain, { a: ['hangs'] }, { timeoutMs: 5, retries: 0 });
    expect(path).toEqual(['a:timeout', 'b:ok']);
  });

  test('is left at once when the caller leaves', async () => {
    const caller = new AbortController();
    const running = run(chain, { a: ['hangs'] }, { caller: caller.signal });
    caller.abort();
    const { result, path } = await running;
    expect(path).toEqual([]);
    expect(result instanceof AppError && result.code).toBe('cancelled');
  });
});

describe('several keys', () => {
  const chain = chainOf([candidate('a', ['k1', 'k2']), candidate('b')]);

  test('a key that is refused or limited is followed by the other one, without a pause', async () => {
    expect((await run(chain, { k1: ['key'] })).path).toEqual(['k1:key', 'k2:ok']);
    expect((await run(chain, { k1: ['rate_limit'] })).path).toEqual(['k1:rate_limit', 'k2:ok']);
  });

  test('a key that rests is not asked first', async () => {
    const circuits = new Circuits({ now: () => 0 });
    await run(chain, { k1: ['key'] }, { circuits });
    expect((await run(chain, {}, { circuits })).path).toEqual(['k2:ok']);
  });

  test('a provider that needs a key and has none fails without being called', async () => {
    const keyless = { ...candidate('a', ['k']), account: { ...candidate('a', ['k']).account, keys: [] } };
    const { result, path } = await run(chainOf([keyless]), {});
    expect(path).toEqual([]);
    expect(result).toMatchObject({ kind: 'key', message: expect.stringContaining('svc provider key add a') });
  });
});

describe('a chain in parallel', () => {
  const chain = chainOf([candidate('a'), candidate('b')], 'parallel');

  test('takes the first success and leaves the others', async () => {
    const { result, path } = await run(chain, { a: ['hangs'] }, { retries: 0 });
    expect(result).toMatchObject({ answer: 'b' });
    expect(path).toEqual(['b:ok']);
  });

  test('waits for the slower one when the quicker one fails', async () => {
    expect((await run(chain, { a: ['server'] }, { retries: 0 })).result).toMatchObject({ answer: 'b' });
  });

  test('that fails altogether says what is wrong with the request first', async () => {
    const { result } = await run(chain, { a: ['server'], b: ['request'] }, { retries: 0 });
    expect(result).toMatchObject({ kind: 'request' });
  });
});
