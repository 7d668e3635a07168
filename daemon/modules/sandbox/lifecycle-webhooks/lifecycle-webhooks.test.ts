import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { BAD_URLS, INNER_V4, INNER_V6, spellingsOf } from '../../../outbound/corpus.ts';
import { newEndpointSecret, signedHeaders } from '../../../outbound/signature.ts';
import { checkAddress } from './address.ts';
import type { Pace } from './dispatcher.ts';
import type { LifecycleWebhookService } from './service.ts';
import { KEPT_DELIVERIES, type LifecycleWebhookStore } from './store.ts';
import type { DeliveryRow } from './tables.ts';
import { IMPATIENT, openInstance, TENANT } from './testing/instance.ts';

setDefaultTimeout(30_000);

/** What one request was. */
interface Seen {
  readonly id: string;
  readonly event: string;
  readonly sandbox: string;
  readonly headers: Headers;
  readonly text: string;
}

class Scene {
  readonly seen: Seen[] = [];
  answer: (nth: number) => Response | Promise<Response> = () => new Response('ok');
  readonly server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const text = await request.text();
      const { event, sandbox_id: sandbox } = JSON.parse(text);
      const id = request.headers.get('webhook-id') ?? '';
      return this.answer(this.seen.push({ id, event, sandbox, headers: request.headers, text }));
    },
  });
  readonly url = `http://127.0.0.1:${this.server.port}/hook`;
  readonly instance: ReturnType<typeof openInstance>;
  readonly store: LifecycleWebhookStore;
  readonly service: LifecycleWebhookService;

  constructor(pace?: Pace) {
    this.instance = openInstance(':memory:', pace);
    this.store = this.instance.store;
    this.service = this.instance.service;
    this.instance.dispatcher.start();
  }

  endpoint(more: { url?: string; events?: DeliveryRow['event'][]; secret?: string } = {}, tenant = TENANT) {
    return this.service.create(tenant, { url: this.url, ...more } as never);
  }

  async ended(endpointId: string): Promise<DeliveryRow[]> {
    for (;;) {
      const rows = this.store.list(TENANT, endpointId);
      if (rows.every(({ status }) => status !== 'pending')) return rows.toReversed();
      await Bun.sleep(10);
    }
  }

  async close(): Promise<void> {
    await this.instance.dispatcher.stop();
    this.instance.db.close();
    this.server.stop(true);
  }
}

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.close());

describe('an event', () => {
  test.each([
    ['running', 'sandbox.started'],
    ['revived', 'sandbox.started'],
    ['stopped', 'sandbox.stopped'],
    ['archived', 'sandbox.archived'],
    ['terminated', 'sandbox.deleted'],
    ['failed', 'sandbox.error'],
    ['error', 'sandbox.error'],
  ])('%s is told as %s, with what became of the sandbox', async (type, event) => {
    const { row } = scene.endpoint();
    scene.instance.record('sbx_1', type);
    const [delivery] = await scene.ended(row.id);
    expect(delivery).toMatchObject({
      event,
      status: 'delivered',
      attempts: 1,
      responseStatus: 200,
      error: null,
    });
    expect(JSON.parse(scene.seen[0]?.text ?? '')).toEqual({
      event,
      timestamp: new Date(delivery?.createdAt ?? 0).toISOString(),
      sandbox_id: 'sbx_1',
      tenant_id: TENANT,
      state: 'running',
      status: 'SANDBOX_STATUS_RUNNING',
    });
  });

  test('that is no news, or that nobody asked for, is not told', async () => {
    const { row } = scene.endpoint({ events: ['sandbox.deleted'] });
    for (const [i, type] of ['created', 'stopping', 'command.finished', 'running', 'renewed'].entries())
      scene.instance.record(`sbx_${i}`, type);
    scene.instance.record('sbx_other', 'terminated', 'org_b');
    scene.instance.record('sbx_gone', 'terminated');
    await scene.ended(row.id);
    expect(scene.seen.map(({ sandbox }) => sandbox)).toEqual(['sbx_gone']);
  });

  test('that is undone is told to nobody', async () => {
    const { row } = scene.endpoint();
    const { events } = scene.instance;
    expect(() =>
      events.record(TENANT, 'sbx_1', { type: 'running', message: '' }, () => {
        throw new Error('undone');
      }),
    ).toThrow('undone');
    expect(scene.store.list(TENANT, row.id)).toEqual([]);
  });

  test('goes out in order as long as few wait', async () => {
    const { row } = scene.endpoint();
    scene.answer = async () => {
      await Bun.sleep(Math.random() * 5);
      return new Response('ok');
    };
    const ids = Array.from({ length: 12 }, (_, i) => `sbx_${i}`);
    for (const id of ids) scene.instance.record(id);
    await scene.ended(row.id);
    expect(scene.seen.map(({ sandbox }) => sandbox)).toEqual(ids);
  });
});

describe('a receiver that fails', () => {
  test('is asked three times, under one id and with one body, and then no more', async () => {
    const { row } = scene.endpoint();
    scene.answer = (nth) => new Response('secret of the receiver', { status: 499 + nth });
    scene.instance.record('sbx_1');
    const [delivery] = await scene.ended(row.id);
    expect(delivery).toMatchObject({
      status: 'failed',
      attempts: 3,
      responseStatus: 502,
      error: 'the receiver answered 502',
    });
    expect(JSON.stringify(delivery)).not.toContain('secret of the receiver');
    expect(new Set(scene.seen.map(({ id }) => id)).size).toBe(1);
    expect(new Set(scene.seen.map(({ text }) => text)).size).toBe(1);
    expect(scene.seen).toHaveLength(3);
  });

  test('and recovers has the event', async () => {
    const { row } = scene.endpoint();
    scene.answer = (nth) => new Response('', { status: nth < 3 ? 503 : 204 });
    scene.instance.record('sbx_1');
    expect((await scene.ended(row.id))[0]).toMatchObject({
      status: 'delivered',
      attempts: 3,
      responseStatus: 204,
    });
  });

  test.each([
    ['redirects', () => Response.redirect('http://127.0.0.1:1/', 307), 307, 'the receiver answered 307'],
    [
      'answers too late',
      () => Bun.sleep(1_000).then(() => new Response('ok')),
      null,
      'did not answer in time',
    ],
  ])('because it %s has failed', async (_, answer, responseStatus, error) => {
    await scene.close();
    scene = new Scene(IMPATIENT);
    const { row } = scene.endpoint();
    scene.answer = answer;
    scene.instance.record('sbx_1');
    expect((await scene.ended(row.id))[0]).toMatchObject({
      status: 'failed',
      responseStatus,
      error: expect.stringContaining(error),
    });
  });

  test('does not hold up another', async () => {
    await scene.close();
    scene = new Scene(IMPATIENT);
    const slow = scene.endpoint();
    const quick = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') });
    const other = scene.endpoint({ url: `http://127.0.0.1:${quick.port}/` });
    scene.answer = () => Bun.sleep(1_000).then(() => new Response('ok'));
    for (let i = 0; i < 40; i++) scene.instance.record(`sbx_${i}`);
    const rows = await scene.ended(other.row.id);
    expect(rows.every(({ status }) => status === 'delivered')).toBe(true);
    expect(scene.store.countWaiting(slow.row.id)).toBeGreaterThan(20);
    scene.service.delete(TENANT, slow.row.id);
    quick.stop(true);
  });
});

test('the last 100 deliveries are kept, whether they come at once or one by one', async () => {
  const { row } = scene.endpoint();
  const isQuiet = async () => {
    while (scene.store.countWaiting(row.id) > 0) await Bun.sleep(1);
  };
  for (let i = 0; i < 70; i++) scene.instance.record(`sbx_${i}`);
  await isQuiet();
  for (let i = 70; i < KEPT_DELIVERIES + 20; i++) {
    scene.instance.record(`sbx_${i}`);
    await isQuiet();
  }
  await Bun.sleep(20);
  const count = () =>
    scene.instance.db.raw.query<{ n: number }, []>('SELECT count(*) AS n FROM webhook_deliveries').get()?.n;
  expect(new Set(scene.seen.map(({ id }) => id)).size).toBe(KEPT_DELIVERIES + 20);
  expect(count()).toBe(KEPT_DELIVERIES);
}, 30_000);

describe('a signature', () => {
  test.each([undefined, 'a secret of their own'])(
    'is right, for the stock library too (secret %p)',
    async (secret) => {
      const made = scene.endpoint({ secret });
      const key = secret ?? made.secret ?? '';
      scene.instance.record('sbx_1');
      await scene.ended(made.row.id);
      const { headers, text } = scene.seen[0] as Seen;
      expect(headers.get('x-svc-signature')).toBe(
        `sha256=${createHmac('sha256', key).update(text).digest('hex')}`,
      );
      const stock = new Webhook(
        secret === undefined ? key : Buffer.from(key),
        secret === undefined ? {} : { format: 'raw' },
      );
      expect(stock.verify(text, Object.fromEntries(headers))).toMatchObject({ sandbox_id: 'sbx_1' });
    },
  );

  test('changes with the second, the id and the body', () => {
    const secret = newEndpointSecret();
    const signature = (id: string, body: string, at: number) =>
      signedHeaders(secret, id, body, at)['webhook-signature'];
    const all = [
      signature('a', '{}', 0),
      signature('b', '{}', 0),
      signature('a', '[]', 0),
      signature('a', '{}', 1_000),
    ];
    expect(new Set(all).size).toBe(4);
  });

  test('is made with a secret that is nowhere in the clear', () => {
    const { secret } = scene.endpoint();
    const stored = scene.instance.db.raw.query('SELECT * FROM webhook_endpoints').all();
    expect(secret).toStartWith('whsec_');
    expect(JSON.stringify(stored)).not.toContain(secret?.slice(6) ?? '');
  });
});

describe('on demand', () => {
  test('a test event is sent once, past what waits, and says at once how it went', async () => {
    const { row } = scene.endpoint();
    scene.answer = () => new Response('', { status: 418 });
    expect(await scene.service.test(TENANT, row.id)).toMatchObject({
      event: 'sandbox.test',
      status: 'failed',
      attempts: 1,
      responseStatus: 418,
    });
    expect(scene.seen).toHaveLength(1);
  });

  test('a delivery is sent again under its id, also one that had failed', async () => {
    const { row } = scene.endpoint();
    scene.answer = () => new Response('', { status: 500 });
    scene.instance.record('sbx_1');
    const [failed] = await scene.ended(row.id);
    scene.answer = () => new Response('ok');
    expect(scene.service.replay(TENANT, row.id, failed?.id ?? '')).toMatchObject({
      id: failed?.id,
      status: 'pending',
    });
    expect(() => scene.service.replay(TENANT, row.id, failed?.id ?? '')).toThrow('on its way');
    expect(await scene.ended(row.id)).toMatchObject([{ id: failed?.id, status: 'delivered', attempts: 1 }]);
    expect(new Set(scene.seen.map(({ id }) => id)).size).toBe(1);
  });

  test('nothing of another tenant is sent, shown or removed', async () => {
    const { row } = scene.endpoint();
    const { id } = await scene.service.test(TENANT, row.id);
    const { service } = scene;
    for (const attempt of [
      () => service.delete('org_b', row.id),
      () => service.deliveries('org_b', row.id),
      () => service.replay('org_b', row.id, id),
    ])
      expect(attempt).toThrow('There is no webhook endpoint');
    await expect(service.test('org_b', row.id)).rejects.toThrow('There is no webhook endpoint');
    expect(service.list('org_b')).toEqual([]);
    expect(scene.seen).toHaveLength(1);
  });
});

describe('an address', () => {
  const strict = { get: () => [] } as never;
  const inner = [
    ...INNER_V4.flatMap(spellingsOf),
    ...INNER_V6.map((address) => ({ host: `[${address}]`, what: address })),
  ];
  const hosts = [
    ...inner,
    { host: 'localhost', what: 'localhost' },
    { host: 'a.localhost.', what: 'a.localhost' },
  ];

  test(`of an inner host is refused in each of ${hosts.length * 2} spellings`, () => {
    const passed = hosts.flatMap(({ host, what }) =>
      ['http', 'https']
        .filter((scheme) => !refuses(() => checkAddress(`${scheme}://${host}/hook`, strict)))
        .map(() => what),
    );
    expect(passed).toEqual([]);
  });

  test.each(BAD_URLS)('%j is refused', (url) => {
    expect(refuses(() => checkAddress(url, strict))).toBe(true);
  });

  test.each(['https://example.com/hook?x=1', 'http://8.8.8.8:8080/', 'https://[2606:4700::1111]/'])(
    '%s is taken',
    (url) => {
      checkAddress(url, strict);
    },
  );

  test('that the owner allows is taken, but never the metadata service', () => {
    const allowing = { get: () => ['10.0.0.0/8', '169.254.169.254'] } as never;
    checkAddress('http://10.1.2.3/', allowing);
    expect(refuses(() => checkAddress('http://169.254.169.254/', allowing))).toBe(true);
  });
});

function refuses(work: () => void): boolean {
  try {
    work();
    return false;
  } catch (error) {
    return (error as { violations?: readonly { field: string }[] }).violations?.[0]?.field === 'url';
  }
}
