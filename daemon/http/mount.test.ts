import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { migrations } from '../../migrations/index.ts';
import { endpoint } from '../../src/api/endpoint.ts';
import { fields, ids, int32, model, object, t } from '../../src/api/schema.ts';
import { fail } from '../../src/errors/app-error.ts';
import { systemClock } from '../../src/kit/time.ts';
import { Wire } from '../../test/support/wire.ts';
import { openDatabase } from '../db/open.ts';
import { silentLog } from '../log/log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { Secrets } from '../secrets/secrets.ts';
import { Idempotency } from './idempotency.ts';
import { type Listening, listen, mount } from './mount.ts';
import { type Caller, implement, type SocketSession, type SocketWriter } from './route.ts';
import { sse } from './sse.ts';

const here = { spec: 'extra', tag: 'Test', summary: 'A test', access: 'viewer' } as const;
const reply = object('Reply', { said: t.String() });
const group = {
  Echo: endpoint({
    ...here,
    id: 'Echo',
    method: 'POST',
    path: '/v1/things/{thingId}/echo',
    params: ids('thingId'),
    query: fields({ times: int32() }),
    body: model('EchoRequest', { tenantId: t.String(), text: t.String() }),
    response: reply,
    bodyLimit: 1_000,
  }),
  Count: endpoint({
    ...here,
    id: 'Count',
    method: 'POST',
    path: '/v1/count',
    body: model('CountRequest', {}),
    response: reply,
  }),
  Break: endpoint({ ...here, id: 'Break', method: 'GET', path: '/v1/break', response: reply }),
  Busy: endpoint({ ...here, id: 'Busy', method: 'GET', path: '/v1/busy', response: reply }),
  Doc: endpoint({
    ...here,
    id: 'Doc',
    method: 'GET',
    path: '/v1/docs/{name}.json',
    params: ids('name'),
    response: reply,
  }),
  Chat: endpoint({
    ...here,
    id: 'Chat',
    method: 'POST',
    path: '/compat/v1/chat',
    body: object('ChatRequest', { model: t.String() }),
    response: reply,
  }),
  Ticks: endpoint({ ...here, id: 'Ticks', method: 'GET', path: '/v1/ticks', response: reply, stream: 'sse' }),
  Socket: endpoint({
    ...here,
    id: 'Socket',
    method: 'GET',
    path: '/v1/socket',
    response: reply,
    stream: 'websocket',
  }),
  Later: endpoint({ ...here, id: 'Later', method: 'GET', path: '/v1/later', response: reply, unbuilt: true }),
  Letter: endpoint({ ...here, id: 'Letter', method: 'GET', path: '/v1/letter', response: reply }),
  Twin: endpoint({
    ...here,
    id: 'Twin',
    method: 'DELETE',
    path: '/v1/things/{id}',
    params: ids('id'),
    response: reply,
    aliases: [{ method: 'POST', path: '/v1/things/{id}/delete' }],
  }),
} as const;

let counted = 0;
let ticksEnded = 0;
const socketLog: string[] = [];

const routes = implement(group, {
  Echo: ({ params, query, body, caller }) => ({
    said: `${caller.tenant} ${params.thingId} ${body.text} ${query.times}`,
  }),
  Count: async () => {
    await Bun.sleep(10);
    return { said: String(++counted) };
  },
  Break: () => {
    throw new Error('the database password is hunter2');
  },
  Busy: () => {
    throw fail('rate_limited', { message: 'Slow down.', retryAfterSeconds: 2.4 });
  },
  Doc: ({ params }) => ({ said: params.name }),
  Chat: ({ body }) => ({ said: body.model }),
  Ticks: ({ signal }) => sse(ticks(), { signal }),
  Letter: ({ headers }) => {
    headers.set('cache-control', 'no-store');
    headers.append('set-cookie', 'a=1');
    headers.append('set-cookie', 'b=2');
    return new Response('{}', { headers: { 'cache-control': 'no-store', 'set-cookie': 'c=3' } });
  },
  Socket: () => new EchoSession(),
  Twin: ({ params }) => ({ said: params.id }),
});

async function* ticks() {
  try {
    for (let i = 0; ; i++) {
      yield { data: i };
      await Bun.sleep(5);
    }
  } finally {
    ticksEnded++;
  }
}

class EchoSession implements SocketSession {
  private writer: SocketWriter | undefined;
  open(writer: SocketWriter): void {
    this.writer = writer;
    writer.send('hello');
  }
  message(data: string | Uint8Array): void {
    this.writer?.send(data);
  }
  closed(code: number): void {
    socketLog.push(`closed ${code}`);
  }
}

const caller: Caller = { tenant: 'org_me', role: 'owner', actor: 'key_1', via: 'api-key' };
const gate = {
  admit: (request: Request) => {
    if (request.headers.get('x-svc-api-key') !== 'k')
      throw fail('unauthenticated', { message: 'No valid credential.' });
    return caller;
  },
  checkHost: () => undefined,
};

let server: Listening;
let url: string;
beforeAll(async () => {
  const idempotency = new Idempotency(
    openDatabase(':memory:', migrations),
    systemClock,
    new Secrets(Buffer.alloc(32)),
  );
  const app = mount({
    operations: Object.values(group),
    routes,
    gate,
    idempotency,
    metrics: createMetrics(),
    log: silentLog,
    page: (request) => (URL.parse(request.url)?.pathname === '/page' ? new Response('a page') : undefined),
  });
  server = await listen(app, '127.0.0.1', 0);
  url = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop(100));

const call = (path: string, init: RequestInit = {}) =>
  fetch(url + path, { ...init, headers: { 'x-svc-api-key': 'k', ...init.headers } });
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('an operation', () => {
  test('gets its path, query and body checked, and answers JSON with the request id', async () => {
    const response = await post(
      '/v1/things/a%2Fb/echo?times=3',
      { text: 'hi' },
      { 'x-request-id': 'mine-1' },
    );
    expect(await response.json()).toEqual({ said: 'org_me a/b hi 3' });
    expect(response.headers.get('x-request-id')).toBe('mine-1');
  });

  test('that answers by itself gives each header once, and every cookie', async () => {
    const { headers } = await call('/v1/letter', { headers: { 'x-request-id': 'mine-2' } });
    expect(headers.get('x-request-id')).toBe('mine-2');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.getSetCookie().toSorted()).toEqual(['a=1', 'b=2', 'c=3']);
  });

  test('takes its aliases too', async () => {
    expect(await (await call('/v1/things/x', { method: 'DELETE' })).json()).toEqual({ said: 'x' });
    expect(await (await post('/v1/things/y/delete', '')).json()).toEqual({ said: 'y' });
  });

  test('with text behind a parameter answers only where that text is', async () => {
    expect(await (await call('/v1/docs/a.b.json')).json()).toEqual({ said: 'a.b' });
    expect((await call('/v1/docs/a.b')).status).toBe(404);
  });
});

describe('a refusal has the error shape', () => {
  const cases: Array<[string, () => Promise<Response>, number, number]> = [
    ['no credential', () => fetch(`${url}/v1/break`), 401, 16],
    ['a wrong type', () => post('/v1/things/a/echo', { text: 1 }), 400, 3],
    ['an unknown field', () => post('/v1/things/a/echo', { txt: 'x' }), 400, 3],
    ['a wrong query', () => post('/v1/things/a/echo?times=x', {}), 400, 3],
    ['a body that is no JSON', () => post('/v1/things/a/echo', '{"a":'), 400, 3],
    [
      'a body of another type',
      () => post('/v1/things/a/echo', '{}', { 'content-type': 'text/plain' }),
      415,
      3,
    ],
    ['a body that is too large', () => post('/v1/things/a/echo', { text: 'x'.repeat(2_000) }), 413, 3],
    ["another tenant's id", () => post('/v1/things/a/echo', { tenantId: 'org_other' }), 404, 5],
    ['an unknown path', () => call('/v1/nothing'), 404, 5],
    ['an unknown method', () => call('/v1/count', { method: 'PUT' }), 405, 12],
    ['an operation that is not built', () => call('/v1/later'), 501, 12],
    ['too many requests', () => call('/v1/busy'), 429, 8],
    ['a broken handler', () => call('/v1/break'), 500, 13],
    ['a socket that is none', () => call('/v1/socket'), 400, 3],
  ];
  test.each(cases)('%s', async (_, request, status, code) => {
    const response = await request();
    const body = await response.json();
    expect(response.status).toBe(status);
    expect(Object.keys(body).sort()).toEqual(['code', 'details', 'message']);
    expect(body.code).toBe(code);
    expect(JSON.stringify(body.details)).toContain(response.headers.get('x-request-id') ?? 'no request id');
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });

  test('a chunked body that grows too large is cut off', async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('x'.repeat(500))),
    });
    const response = await call('/v1/things/a/echo', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(413);
  });

  test('says when to come back and which methods there are', async () => {
    expect((await call('/v1/busy')).headers.get('retry-after')).toBe('3');
    expect((await call('/v1/count', { method: 'PUT' })).headers.get('allow')).toBe('POST');
  });

  test('under /compat/v1 has the form that stock clients read as well', async () => {
    const response = await post('/compat/v1/chat', { model: 5 });
    expect(await response.json()).toMatchObject({
      code: 3,
      error: { type: 'invalid_request_error', param: 'model', code: 'invalid_argument' },
    });
  });
});

test('two requests with one Idempotency-Key have one effect', async () => {
  const headers = { 'idempotency-key': 'once' };
  const answers = await Promise.all([1, 2].map(async () => (await post('/v1/count', {}, headers)).json()));
  expect(answers).toEqual([{ said: '1' }, { said: '1' }]);
  expect(await (await post('/v1/count', {})).json()).toEqual({ said: '2' });
});

test('a stream ends its source when the reader leaves', async () => {
  const controller = new AbortController();
  const response = await call('/v1/ticks', { signal: controller.signal });
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toStartWith('data: 0');
  controller.abort();
  for (let i = 0; i < 200 && ticksEnded === 0; i++) await Bun.sleep(5);
  expect(ticksEnded).toBe(1);
});

test('a WebSocket carries text and bytes and ends cleanly', async () => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/socket`, {
    headers: { 'x-svc-api-key': 'k' },
  } as never);
  socket.binaryType = 'arraybuffer';
  const received: unknown[] = [];
  await new Promise<void>((resolve) => {
    socket.onmessage = ({ data }) => {
      received.push(typeof data === 'string' ? data : [...new Uint8Array(data)]);
      if (received.length === 1) socket.send(new Uint8Array([0, 255]));
      if (received.length === 2) resolve();
    };
  });
  expect(received).toEqual(['hello', [0, 255]]);
  socket.close(1000);
  for (let i = 0; i < 200 && !socketLog.includes('closed 1000'); i++) await Bun.sleep(5);
  expect(socketLog).toContain('closed 1000');
});

test.each(['', 'a b', 'a@b', 'a:1:2'])(
  'a Host that is none (%j) leads to an error like any other',
  async (host) => {
    const wire = new Wire(url);
    for (const [target, status] of [
      ['/v1/busy', 401],
      ['/nothing', 404],
    ] as const) {
      const response = await wire.send({ method: 'GET', target, headers: [['Host', host]] });
      expect(response.status).toBe(status);
      expect(JSON.parse(response.text)).toMatchObject({
        code: expect.any(Number),
        details: expect.any(Array),
      });
    }
    wire.close();
  },
);

test('what is no operation may be a page', async () => {
  expect(await (await fetch(`${url}/page`)).text()).toBe('a page');
});

test('a port in use is one clear error', async () => {
  const app = mount({
    operations: [],
    routes: [],
    gate,
    idempotency: new Idempotency(
      openDatabase(':memory:', migrations),
      systemClock,
      new Secrets(Buffer.alloc(32)),
    ),
    metrics: createMetrics(),
    log: silentLog,
  });
  expect(listen(app, '127.0.0.1', server.port)).rejects.toThrow(`127.0.0.1:${server.port} is in use`);
});
