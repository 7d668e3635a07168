import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { endpoint } from '../api/endpoint.ts';
import { fields, ids, object, t } from '../api/schema.ts';
import { AppError, fail, invalid } from '../errors/app-error.ts';
import { EXIT } from '../errors/codes.ts';
import { type Client, createClient } from './client.ts';
import { RemoteError } from './remote-error.ts';

const common = { spec: 'extra', tag: 'test', access: 'viewer' } as const;
const Echo = endpoint({
  ...common,
  id: 'Echo',
  method: 'POST',
  path: '/v1/echo/{name}',
  summary: 'Answers what it was asked',
  params: ids('name'),
  query: fields({ tags: t.Array(t.String()), limit: t.Integer() }),
  body: object('EchoRequest', {}, { text: t.String() }),
  response: t.Record(t.String(), t.Unknown()),
});
const Chat = endpoint({ ...Echo, id: 'Chat', path: '/compat/v1/echo/{name}' });
const Fails = endpoint({
  ...common,
  id: 'Fails',
  method: 'GET',
  path: '/v1/fails/{how}',
  summary: 'Fails as asked',
  params: ids('how'),
  response: t.Object({}),
});
const Ticks = endpoint({
  ...common,
  id: 'Ticks',
  method: 'GET',
  path: '/v1/ticks',
  summary: 'Counts',
  stream: 'sse',
  response: t.String(),
});
const Line = endpoint({ ...Ticks, id: 'Line', path: '/v1/line', stream: 'websocket' });
const NoLine = endpoint({ ...Ticks, id: 'NoLine', path: '/v1/fails/sandbox', stream: 'websocket' });

const FAILURES: Record<string, () => Response> = {
  sandbox: () => answer(fail('sandbox_not_found', { id: 'sbx_1' })),
  field: () => answer(invalid({ field: 'body.cpu', description: 'must be at least 0.05' })),
  teapot: () => new Response('short and stout', { status: 418 }),
  proxy: () => new Response('<html>', { status: 401 }),
  html: () => new Response('<html>', { status: 200 }),
  moved: () => Response.redirect('http://127.0.0.1:1/', 302),
};

function answer(error: AppError): Response {
  return Response.json(error.toWire('req_1'), { status: error.http });
}

let server: ReturnType<typeof Bun.serve>;
let client: Client;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request, self) {
      const url = new URL(request.url);
      if (url.pathname.includes('/echo/')) {
        return Response.json({
          path: url.pathname,
          query: [...url.searchParams],
          headers: Object.fromEntries(request.headers),
          body: await request.json(),
        });
      }
      if (url.pathname === '/v1/ticks') {
        const after = Number(request.headers.get('last-event-id') ?? 0);
        return new Response(`id: ${after + 1}\ndata: tick\n\n`, {
          headers: { 'content-type': 'text/event-stream; charset=utf-8' },
        });
      }
      if (url.pathname === '/v1/line') {
        self.upgrade(request, { data: request.headers.get('x-svc-api-key') });
        return undefined;
      }
      return (
        FAILURES[url.pathname.slice('/v1/fails/'.length)] ?? (() => new Response('', { status: 404 }))
      )();
    },
    websocket: {
      data: null as string | null,
      open: (socket) => void socket.send(String(socket.data)),
      message: (socket, data) => void socket.send(data),
    },
  });
  client = createClient({ url: `${server.url}`, apiKey: 's_test' });
});

afterAll(() => server.stop(true));

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

describe('call', () => {
  test('fills path, query, body and the key header', async () => {
    const echoed = await client.call(
      Echo,
      { params: { name: 'a b/c' }, query: { tags: ['x', 'y'], limit: 3 }, body: { text: 'hi' } },
      { idempotencyKey: 'once' },
    );
    expect(echoed).toMatchObject({
      path: '/v1/echo/a%20b%2Fc',
      query: [
        ['tags', 'x'],
        ['tags', 'y'],
        ['limit', '3'],
      ],
      body: { text: 'hi' },
      headers: { 'x-svc-api-key': 's_test', 'idempotency-key': 'once', 'content-type': 'application/json' },
    });
    expect(echoed.headers).not.toHaveProperty('authorization');
  });

  test('sends a bearer token under /compat/v1, and no key header', async () => {
    const { headers } = await client.call(Chat, { params: { name: 'x' } });
    expect(headers).toMatchObject({ authorization: 'Bearer s_test' });
    expect(headers).not.toHaveProperty('x-svc-api-key');
  });

  test('sends an empty body where one is declared and none is given', async () => {
    expect((await client.call(Echo, { params: { name: 'x' } })).body).toEqual({});
  });
});

describe('errors', () => {
  const cases: Array<[how: string, expected: Partial<RemoteError>]> = [
    [
      'sandbox',
      {
        http: 404,
        rpc: 5,
        code: 'sandbox_not_found',
        message: 'There is no sandbox "sbx_1".',
        hint: 'List yours: svc sandbox list',
        requestId: 'req_1',
        exit: EXIT.notFound,
      },
    ],
    [
      'field',
      {
        http: 400,
        code: 'invalid_argument',
        violations: [{ field: 'body.cpu', description: 'must be at least 0.05' }],
        exit: EXIT.usage,
      },
    ],
    ['teapot', { http: 418, code: '', message: 'The server answered 418.', exit: EXIT.error }],
    ['proxy', { http: 401, code: '', exit: EXIT.auth }],
    ['moved', { http: 302, exit: EXIT.error }],
  ];
  test.each(cases)('%s', async (how, expected) => {
    const error = await errorOf(client.call(Fails, { params: { how } }));
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject(expected);
  });

  test('an answer that is not JSON is no svc', async () => {
    expect(await errorOf(client.call(Fails, { params: { how: 'html' } }))).toMatchObject({
      code: 'unreachable',
    });
  });

  test('no answer is unreachable, with the address and the reason', async () => {
    const gone = createClient({ url: 'http://127.0.0.1:1' });
    const error = await errorOf(gone.call(Fails, { params: { how: 'x' } }));
    expect(error).toMatchObject({ code: 'unreachable', exit: EXIT.unreachable });
    expect((error as AppError).message).toBe(
      'No svc answers at http://127.0.0.1:1: the connection was refused.',
    );
  });

  test('a signal makes it cancelled, a timeout unreachable', async () => {
    const slow = createClient({
      url: 'http://127.0.0.1:1',
      fetch: (_, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    });
    const left = AbortSignal.timeout(1);
    const input = { params: { how: 'x' } };
    expect(await errorOf(slow.call(Fails, input, { signal: left }))).toMatchObject({
      code: 'unreachable',
      data: { why: 'it did not answer in time' },
    });
    const controller = new AbortController();
    const pending = errorOf(slow.call(Fails, input, { signal: controller.signal }));
    controller.abort();
    expect(await pending).toMatchObject({ code: 'cancelled' });
  });

  test.each(['localhost:8089', 'ftp://x', ''])('%p is no address', (url) => {
    expect(() => createClient({ url })).toThrow(AppError);
  });
});

describe('stream', () => {
  test('yields messages, after the id it was given', async () => {
    const ids: string[] = [];
    for await (const { id } of client.stream(Ticks, {}, { lastEventId: '41' })) ids.push(id);
    expect(ids).toEqual(['42']);
  });

  test('an error before the first message is thrown as itself', async () => {
    const first = client.stream(Fails, { params: { how: 'sandbox' } }).next();
    expect(await errorOf(first)).toMatchObject({ code: 'sandbox_not_found' });
  });
});

describe('socket', () => {
  test('opens with the key and carries bytes', async () => {
    const socket = await client.socket(Line);
    const received: unknown[] = [];
    await new Promise<void>((resolve) => {
      socket.onmessage = ({ data }) => {
        received.push(typeof data === 'string' ? data : [...new Uint8Array(data)]);
        if (received.length === 2) resolve();
      };
      socket.send(new Uint8Array([0, 255]));
    });
    socket.close();
    expect(received).toEqual(['s_test', [0, 255]]);
  });

  test('a refused upgrade throws the error that the daemon gives', async () => {
    expect(await errorOf(client.socket(NoLine))).toMatchObject({ code: 'sandbox_not_found' });
  });

  test('no daemon is unreachable', async () => {
    const gone = createClient({ url: 'http://127.0.0.1:1' });
    expect(await errorOf(gone.socket(Line))).toMatchObject({ code: 'unreachable' });
  });
});
