import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { AppError } from '../../src/errors/app-error.ts';
import { silentLog } from '../log/log.ts';
import type { Connector } from './connector.ts';
import { BAD_URLS, INNER_V4, INNER_V6, spellingsOf } from './corpus.ts';
import { createOutbound, type OutboundParts, type OutboundRequest, type Trust } from './outbound.ts';

const settings = (allow: readonly string[]) => ({ get: () => allow }) as never;
const outbound = (parts: OutboundParts = {}, allow: readonly string[] = []) =>
  createOutbound(settings(allow), silentLog, parts);

/** What a call came to: the code of its error, or its status. */
async function outcome(
  parts: OutboundParts,
  request: Partial<OutboundRequest>,
  allow: readonly string[] = [],
) {
  try {
    const full = { url: 'http://name.test/', trust: 'tenant' as Trust, field: 'body.url', ...request };
    return (await outbound(parts, allow).fetch(full)).status;
  } catch (error) {
    return error instanceof AppError ? error.code : error;
  }
}

const connects: string[] = [];
const spy: Connector = async (_, address) => {
  connects.push(address);
  return new Response('reached');
};
const answering =
  (...addresses: string[]) =>
  async () =>
    addresses;
const unasked = async (name: string) => {
  throw new Error(`asked for ${name}`);
};
beforeEach(() => {
  connects.length = 0;
});

let cases = 0;
function refused(what: string, parts: OutboundParts, request: Partial<OutboundRequest>): void {
  cases++;
  test(`refuses ${what}`, async () => {
    expect(await outcome({ connect: spy, ...parts }, request)).toBe('outbound_refused');
    expect(connects).toEqual([]);
  });
}

describe('a tenant may not call', () => {
  for (const address of INNER_V4)
    for (const { host, what } of spellingsOf(address))
      refused(`${what}: ${host}`, { lookup: unasked }, { url: `http://${host}/` });

  for (const address of INNER_V6)
    for (const url of [
      `http://[${address}]/`,
      `https://[${address}]:8443/x?y`,
      `http://[${address.toUpperCase()}]/`,
    ])
      refused(url, { lookup: unasked }, { url });

  for (const address of [...INNER_V4, ...INNER_V6]) {
    refused(`a name that leads to ${address}`, { lookup: answering(address) }, {});
    refused(`a name that leads to ${address} too`, { lookup: answering('93.184.215.14', address) }, {});
    refused(`a name that leads to ${address} first`, { lookup: answering(address, '2606:4700::1') }, {});
  }

  for (const port of [22, 25, 53, 110, 389, 2049, 6667])
    refused(`port ${port}`, { lookup: answering('93.184.215.14') }, { url: `http://name.test:${port}/` });

  for (const url of [
    'http://127.0.0.1\\@example.com@10.0.0.1/',
    'http:127.0.0.1',
    'http:/\\/\\127.0.0.1',
    ' http://127.0.0.1\t/',
  ])
    refused(JSON.stringify(url), { lookup: unasked }, { url });

  for (const host of ['localhost', 'LOCALHOST', 'localhost.', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'loc%61lhost', 'a.localhost'])
    refused(
      host,
      { lookup: async (name) => (name.endsWith('localhost') ? ['127.0.0.1', '::1'] : []) },
      { url: `http://${host}/` },
    );
});

describe('nobody may call', () => {
  for (const trust of ['tenant', 'operator'] as const) {
    for (const url of BAD_URLS)
      refused(`${JSON.stringify(url)} as ${trust}`, { lookup: unasked }, { url, trust });

    for (const address of ['169.254.169.254', '169.254.0.1', '100.100.100.200', '168.63.129.16'])
      for (const { host, what } of spellingsOf(address))
        refused(
          `${what} as ${trust}`,
          { lookup: unasked },
          { url: `http://${host}/latest/meta-data/`, trust },
        );

    for (const address of ['169.254.169.254', 'fe80::1', 'fe80::1%2', 'fd00:ec2::254', '::ffff:a9fe:a9fe'])
      refused(
        `a name that leads to ${address} as ${trust}`,
        { lookup: answering('10.0.0.1', address) },
        { trust },
      );
  }

  test('not even when outbound.allow names it', async () => {
    const allow = ['169.254.169.254', '169.254.0.0/16', 'metadata.test', '0.0.0.0/0', '::/0'];
    const parts = { connect: spy, lookup: answering('169.254.169.254') };
    expect(await outcome(parts, { url: 'http://metadata.test/' }, allow)).toBe('outbound_refused');
    expect(await outcome(parts, { url: 'http://169.254.169.254/' }, allow)).toBe('outbound_refused');
    expect(await outcome(parts, { url: 'http://[fe80::1]/' }, allow)).toBe('outbound_refused');
    expect(connects).toEqual([]);
  });
});

test('the corpus has at least 500 cases', () => expect(cases).toBeGreaterThanOrEqual(500));

describe('a real listener on loopback', () => {
  let hits = 0;
  const serve = (hostname: string) =>
    Bun.serve({
      hostname,
      port: 0,
      fetch(request) {
        hits++;
        return new Response(request.headers.get('host'));
      },
    });
  const server = serve('127.0.0.1');
  afterAll(() => server.stop(true));
  beforeEach(() => {
    hits = 0;
  });

  test('is never reached by a tenant, however it is spelled', async () => {
    const hosts = ['127.0.0.1', '127.1.2.3', '0.0.0.0'].flatMap(spellingsOf).map(({ host }) => host);
    for (const host of [...hosts, 'localhost', 'localhost.', '[::1]', '[::]', 'ⓛocalhost'])
      expect(await outcome({}, { url: `http://${host}:${server.port}/` })).toBe('outbound_refused');
    expect(hits).toBe(0);
  });

  test('is not reached when a name changes its answer after the check', async () => {
    const answers = [['93.184.215.14'], ['127.0.0.1']];
    const parts = { connect: spy, lookup: async () => answers.shift() ?? ['127.0.0.1'] };
    expect(await outcome(parts, { url: `http://rebind.test:${server.port}/` })).toBe(200);
    expect(connects).toEqual(['93.184.215.14']);
    expect(answers).toHaveLength(1);
    expect(hits).toBe(0);
  });

  test('is not reached by a redirect: the answer comes back as it is', async () => {
    const redirector = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Response.redirect(`http://127.0.0.1:${server.port}/`, 307),
    });
    const request = { url: `http://127.0.0.1:${redirector.port}/`, method: 'POST', body: 'x' };
    expect(await outcome({}, request, [`127.0.0.1:${redirector.port}`])).toBe(307);
    expect(hits).toBe(0);
    await redirector.stop(true);
  });

  test('is reached by a tenant when outbound.allow names it with its port, under the name of the URL', async () => {
    const allow = [`model.lan:${server.port}`];
    const out = outbound({ lookup: answering('127.0.0.1') }, allow);
    const url = `http://model.lan:${server.port}/`;
    const response = await out.fetch({ url, trust: 'tenant', field: 'f', headers: { host: 'forged.test' } });
    expect(await response.text()).toBe(`model.lan:${server.port}`);
    expect(await outcome({ lookup: answering('127.0.0.1') }, { url: 'http://model.lan:1/' }, allow)).toBe(
      'outbound_refused',
    );
  });

  test('is reached by the operator without an allowance, by the next address when one refuses', async () => {
    const asked: string[] = [];
    const lookup = async (name: string) => {
      asked.push(name);
      return ['127.9.9.9', '127.0.0.1'];
    };
    const out = outbound({ lookup });
    for (const path of ['a', 'b']) {
      const url = `http://up.test:${server.port}/${path}`;
      expect(
        (await out.fetch({ url, trust: 'operator', field: 'f', method: 'POST', body: '{}' })).status,
      ).toBe(200);
    }
    expect(hits).toBe(2);
    expect(asked).toEqual(['up.test']);
  });

  test('is called directly, whatever proxy the environment names', async () => {
    let proxied = 0;
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Response(String(++proxied)),
    });
    process.env.HTTP_PROXY = `http://127.0.0.1:${proxy.port}`;
    const url = `http://up.test:${server.port}/`;
    const response = await outbound({ lookup: answering('127.0.0.1') }).fetch({
      url,
      trust: 'operator',
      field: 'f',
    });
    delete process.env.HTTP_PROXY;
    await proxy.stop(true);
    expect(await response.text()).toBe(`up.test:${server.port}`);
    expect(proxied).toBe(0);
  });
});

describe('resolution', () => {
  test('fails closed: no answer, an error and an empty answer connect nowhere', async () => {
    const broken = async () => {
      throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    };
    for (const trust of ['tenant', 'operator'] as const)
      for (const lookup of [broken, answering()])
        expect(await outcome({ connect: spy, lookup }, { trust })).toBe('upstream_failed');
    expect(connects).toEqual([]);
  });

  test('is remembered for 30 seconds, shared by calls at the same time, and its failures are not remembered', async () => {
    let now = 0;
    const replies: Array<readonly string[] | Error> = [
      new Error('down'),
      ['93.184.215.14'],
      ['93.184.215.15'],
    ];
    const lookup = async () => {
      const reply = replies.shift() ?? [];
      if (reply instanceof Error) throw reply;
      return reply;
    };
    const out = outbound({ connect: spy, lookup, now: () => now });
    const call = () =>
      out.fetch({ url: 'http://name.test/', trust: 'tenant', field: 'f' }).catch(() => undefined);
    await call();
    await Promise.all([call(), call()]);
    now = 29_999;
    await call();
    now = 30_001;
    await call();
    expect(connects).toEqual(['93.184.215.14', '93.184.215.14', '93.184.215.14', '93.184.215.15']);
  });

  test('ends when the caller leaves', async () => {
    const lookup = () => new Promise<string[]>(() => {});
    expect(await outcome({ connect: spy, lookup }, { signal: AbortSignal.timeout(20) })).toBe(
      'upstream_timeout',
    );
    const controller = new AbortController();
    const pending = outcome({ connect: spy, lookup }, { signal: controller.signal });
    controller.abort();
    expect(await pending).toBe('cancelled');
    expect(await outcome({ connect: spy, lookup }, { signal: AbortSignal.abort() })).toBe('cancelled');
  });
});

describe('what is said of a refusal', () => {
  test('names the field, and shows neither query, credentials nor the address that a name led to', async () => {
    const url = 'http://internal.test/hook?token=s3cret';
    const error = await outbound({ lookup: answering('10.1.2.3') })
      .fetch({ url, trust: 'tenant', field: 'body.webhook.url' })
      .catch((thrown: AppError) => thrown);
    const text = JSON.stringify((error as AppError).toWire('req_1'));
    expect(text).toContain('body.webhook.url');
    expect(text).toContain('http://internal.test/hook');
    for (const secret of ['s3cret', '10.1.2.3']) expect(text).not.toContain(secret);
  });

  test('a password in the address is not shown', async () => {
    const error = await outbound()
      .fetch({ url: 'http://me:hunter2@x.test/', trust: 'tenant', field: 'f' })
      .catch((thrown: AppError) => thrown);
    expect(JSON.stringify((error as AppError).toWire('r'))).not.toContain('hunter2');
  });

  test('outbound.allow that cannot be read stops the start', () =>
    expect(() => outbound({}, ['not a host'])).toThrow('outbound.allow'));

  test('a header that is not valid is the fault of the request', async () =>
    expect(
      await outcome({ connect: spy, lookup: answering('93.184.215.14') }, { headers: { x: 'a\r\nb: c' } }),
    ).toBe('outbound_refused'));
});
