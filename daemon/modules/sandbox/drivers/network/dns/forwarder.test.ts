import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { decode, encode, type Question } from 'dns-packet';
import type { Lookup, NetworkPolicy } from '../../driver.ts';
import { parseAddress } from '../address.ts';
import { policyOf } from '../policy.ts';
import { a, serveNames, type TestNameServer } from '../testing/name-server.ts';
import { Forwarder } from './forwarder.ts';
import { type Listener, listen } from './listener.ts';
import { RCODE, rcodeOf } from './message.ts';
import { type Ask, askServers } from './upstream.ts';

const BOX = '127.0.0.1';

describe('the forwarder', () => {
  let server: TestNameServer;
  let listener: Listener;
  let policy: NetworkPolicy;
  let learnt: Array<[name: string, addresses: readonly number[]]>;
  let lookups: Lookup[];
  let room = true;
  const rules = {
    find: (address: number) => (address === parseAddress(BOX) ? { id: 'box', policy } : undefined),
    learn: async (_: number, name: string, addresses: readonly number[]) => {
      learnt.push([name, addresses]);
      return room;
    },
  };
  const forwarderOf = (ask: Ask) =>
    new Forwarder({ rules, ask, record: (_, lookup) => void lookups.push(lookup) });

  beforeAll(async () => {
    server = await serveNames('127.0.0.1', 0, {
      'a.test': a('a.test', '8.8.8.8', '10.0.0.1', '169.254.169.254', '127.0.0.1'),
      'b.a.test': a('b.a.test', '9.9.9.9'),
      'six.test': [{ name: 'six.test', type: 'AAAA', ttl: 9_999, data: 'fd00::1' }],
      'many.test': a('many.test', ...Array.from({ length: 60 }, (_, i) => `8.8.4.${i}`)),
      'alias.test': [{ name: 'alias.test', type: 'CNAME', ttl: 60, data: 'x.cdn' }, ...a('x.cdn', '8.8.8.8')],
    });
    const forwarder = forwarderOf(askServers(() => [{ hostname: '127.0.0.1', port: server.port }]));
    listener = await listen({ hostname: '127.0.0.1', port: 0 }, (bytes, from, transport) =>
      forwarder.answer(bytes, from, transport),
    );
  });
  afterAll(() => {
    listener.close();
    server.stop();
  });

  const use = (next: NetworkPolicy) => {
    policy = next;
    learnt = [];
    lookups = [];
    room = true;
    server.asked.length = 0;
  };
  const whitelist = (...allowHosts: string[]): NetworkPolicy => ({ ...policyOf('whitelist'), allowHosts });
  const ask = async (name: string, type: Question['type'] = 'A') =>
    decode(await byTcp(listener.port, encode({ type: 'query', id: 5, questions: [{ name, type }] })));
  const addresses = async (name: string) =>
    (await ask(name)).answers?.flatMap((one) => (one.type === 'A' ? [one.data] : []));

  test('asks nobody for a name that is not allowed', async () => {
    use(whitelist('a.test'));
    expect(rcodeOf(await ask('secret.b.a.test'))).toBe(RCODE.noName);
    use(policyOf('deny'));
    expect(rcodeOf(await ask('a.test'))).toBe(RCODE.noName);
    expect(server.asked).toEqual([]);
    expect(lookups).toMatchObject([{ name: 'a.test', type: 'A', verdict: 'denied', addresses: [] }]);
  });

  test('opens what an allowed name leads to before it answers, without addresses of private networks', async () => {
    use(whitelist('a.test'));
    expect(await addresses('A.Test')).toEqual(['8.8.8.8']);
    expect(learnt).toEqual([['a.test', [parseAddress('8.8.8.8') ?? -1]]]);
    expect(lookups).toMatchObject([{ name: 'a.test', verdict: 'allowed', addresses: ['8.8.8.8'] }]);
  });

  test('opens nothing where everything is open', async () => {
    use(policyOf('allow'));
    expect(await addresses('a.test')).toEqual(['8.8.8.8']);
    expect(learnt).toEqual([]);
  });

  test('lets a private address through that the policy names', async () => {
    use({ ...policyOf('allow'), allowCidrs: ['10.0.0.0/8'] });
    expect(await addresses('a.test')).toEqual(['8.8.8.8', '10.0.0.1']);
  });

  test('follows the aliases of a name, and no others', async () => {
    use(whitelist('alias.test'));
    expect(await addresses('alias.test')).toEqual(['8.8.8.8']);
    expect(await addresses('x.cdn')).toEqual([]);
  });

  test('knows localhost without asking, under every policy', async () => {
    use(policyOf('deny'));
    expect(await addresses('localhost')).toEqual(['127.0.0.1']);
    expect(server.asked).toEqual([]);
  });

  test('hands out few addresses at once and none of a private IPv6 network', async () => {
    use(whitelist('*.test'));
    expect(await addresses('many.test')).toHaveLength(32);
    expect((await ask('six.test', 'AAAA')).answers).toEqual([]);
  });

  test('does not tell a whitelisted box of addresses that nothing would open', async () => {
    use(whitelist('a.test'));
    const { answers } = await ask('a.test', 'UNKNOWN_65' as Question['type']);
    expect(answers).toEqual([]);
    expect(server.asked).toEqual([]);
  });

  test.each(['1.0.0.10.in-addr.arpa', '254.169.254.169.in-addr.arpa', '10.in-addr.arpa'])(
    'does not ask who is behind a private address (%s)',
    async (name) => {
      use(policyOf('allow'));
      expect(rcodeOf(await ask(name, 'PTR'))).toBe(RCODE.noName);
      expect(server.asked).toEqual([]);
    },
  );

  test('fails a name whose addresses could not be opened', async () => {
    use(whitelist('a.test'));
    room = false;
    expect(rcodeOf(await ask('a.test'))).toBe(RCODE.failed);
    expect(lookups).toMatchObject([{ verdict: 'failed' }]);
  });

  test('says nothing to an address that is no box', async () => {
    use(policyOf('allow'));
    const packet = encode({ type: 'query', id: 5, questions: [{ name: 'a.test', type: 'A' }] });
    const nobody = forwarderOf(async () => undefined);
    expect(await nobody.answer(packet, '127.0.0.2', 'udp')).toBeUndefined();
    expect(await nobody.answer(packet, '::1', 'udp')).toBeUndefined();
  });

  test('has a bounded number of questions of one box under way, and forgets none of them', async () => {
    use(policyOf('allow'));
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let asked = 0;
    const slow = forwarderOf(() => {
      asked++;
      return promise;
    });
    const packet = encode({ type: 'query', id: 5, questions: [{ name: 'a.test', type: 'A' }] });
    const answers = Array.from({ length: 500 }, () => slow.answer(packet, BOX, 'udp'));
    expect(asked).toBe(64);
    resolve(undefined);
    expect((await Promise.all(answers)).filter((one) => one !== undefined)).toHaveLength(64);
    void slow.answer(packet, BOX, 'udp');
    expect(asked).toBe(65);
  });

  test('passes a question on when a name server is silent or broken', async () => {
    use(policyOf('allow'));
    const dead = { hostname: '127.0.0.1', port: 1 };
    const find = askServers(() => [dead, { hostname: '127.0.0.1', port: server.port }]);
    const query = { id: 1, name: 'a.test', type: 'A' as const, size: 512, hasExtensions: false };
    expect((await find(query))?.answers).toHaveLength(4);
  });
});

/** Asks one question over TCP. */
async function byTcp(port: number, query: Buffer): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let received = Buffer.alloc(0);
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, bytes) {
        received = Buffer.concat([received, bytes]);
        if (received.length >= 2 && received.length >= received.readUInt16BE(0) + 2)
          resolve(received.subarray(2));
      },
      close: () => reject(new Error('no answer')),
      error: (_, error) => reject(error),
    },
  });
  const head = Buffer.alloc(2);
  head.writeUInt16BE(query.length);
  socket.write(Buffer.concat([head, query]));
  try {
    return await promise;
  } finally {
    socket.end();
  }
}
