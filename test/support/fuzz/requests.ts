import fc from 'fast-check';
import type { Endpoint, RoutePath } from '../../../src/api/endpoint.ts';
import type { WireHeader, WireRequest } from '../wire.ts';
import { mutated } from './mutate.ts';
import { nastyBody, nastySegment, nastyText, nastyValue } from './nasty.ts';
import { type Pool, validValue } from './valid.ts';

const JSON_TYPE: WireHeader = ['Content-Type', 'application/json'];

/** Requests for an operation: some right, most of them not quite. */
export function requestFor(endpoint: Endpoint, pool: Pool, always: readonly WireHeader[]) {
  const places: readonly RoutePath[] = [endpoint, ...(endpoint.aliases ?? [])];
  return fc.constantFrom(...places).chain(({ method, path }): fc.Arbitrary<WireRequest> => {
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const parts = {
      path: pathFor(path, pool),
      query: queryFor(endpoint, pool),
      headers: headers,
      body: hasBody || endpoint.body ? bodyFor(endpoint, pool) : fc.constant({ headers: [] }),
      upgrade: fc.boolean(),
    };
    return fc.record(parts).map(({ path: filled, query, headers: more, body, upgrade }) => ({
      method,
      target: filled + query,
      isStream: endpoint.stream === 'sse',
      headers: [
        ...always,
        ...more,
        ...body.headers,
        ...(endpoint.stream === 'websocket' && upgrade ? UPGRADE : []),
      ],
      ...('text' in body ? { body: body.text } : {}),
    }));
  });
}

const UPGRADE: readonly WireHeader[] = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
];

function pathFor(path: string, pool: Pool): fc.Arbitrary<string> {
  const segments = path.split('/').map((segment) => {
    const [whole = '', name = '', suffix = ''] = /^\{(\w+)\}(.*)$/.exec(segment) ?? [];
    if (whole === '') return fc.constant(segment);
    const known = (pool[name] ?? []).map(encodeURIComponent);
    const good = known.length > 0 ? fc.constantFrom(...known) : nastySegment;
    return fc.oneof(good, nastySegment).map((text) => text + suffix);
  });
  return fc.tuple(...segments).map((parts) => parts.join('/'));
}

/** A query out of pairs, in which names may come twice, and sometimes out of anything. */
function queryFor({ query }: Endpoint, pool: Pool): fc.Arbitrary<string> {
  const fields = Object.entries(query?.properties ?? {});
  const known = fields.map(([name, schema]) =>
    fc.tuple(
      fc.constant(name),
      fc.oneof(
        { weight: 3, arbitrary: validValue(schema, pool, name) },
        { weight: 2, arbitrary: nastyText },
        { weight: 1, arbitrary: nastyValue },
      ),
    ),
  );
  const pair = fc.oneof(fc.tuple(nastyText, nastyText), ...known, ...known);
  const pairs = fc
    .array(pair, { maxLength: fields.length + 3 })
    .map((list) => list.map(([name, value]) => `${encode(name)}=${encode(textOf(value))}`).join('&'));
  const raw = fc.constantFrom('&&&===', '%zz=%ff&=&a', 'a[]=1&a[b]=2', 'a'.repeat(4_000), '?', '#x', '+=+');
  const text = fc.oneof({ weight: 9, arbitrary: pairs }, { weight: 1, arbitrary: raw });
  return text.map((query) => (query === '' ? '' : `?${query}`));
}

interface Body {
  readonly headers: readonly WireHeader[];
  readonly text?: string;
}

function bodyFor({ body }: Endpoint, pool: Pool): fc.Arbitrary<Body> {
  const wanted = body ? mutated(validValue(body, pool)) : nastyValue;
  const json = wanted.map((value) => ({ headers: [JSON_TYPE], text: JSON.stringify(value) ?? '' }));
  const chunked = json.map(({ headers, text }) => ({
    headers: [...headers, ['Transfer-Encoding', 'chunked'] as const],
    text: inChunks(text),
  }));
  const other = fc
    .tuple(
      contentType,
      fc.oneof(
        nastyBody,
        json.map(({ text }) => text),
      ),
    )
    .map(([type, text]): Body => ({ headers: type === undefined ? [] : [['Content-Type', type]], text }));
  return fc.oneof(
    { weight: 6, arbitrary: json },
    { weight: 1, arbitrary: chunked },
    { weight: 2, arbitrary: other },
    { weight: 1, arbitrary: fc.constant<Body>({ headers: [JSON_TYPE] }) },
  );
}

const contentType = fc.constantFrom(
  'application/json',
  'APPLICATION/JSON; Charset=utf-8',
  'application/json; charset=utf-16',
  'application/vnd.x+json',
  'application/jsonp',
  'text/plain',
  'text/html',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  '*/*',
  ',;=',
  '',
  undefined,
);

const extra: fc.Arbitrary<WireHeader> = fc.oneof(
  fc.constantFrom<WireHeader>(
    ['Accept', 'text/html'],
    ['Accept', ',;q=x'],
    ['Accept-Encoding', 'gzip, br, zstd;q=0'],
    ['Range', 'bytes=0-1'],
    ['If-None-Match', '*'],
    ['If-Modified-Since', 'yesterday'],
    ['Content-Encoding', 'gzip'],
    ['Cookie', ';;=;a'],
    ['Cookie', 'es_svc_session='],
    ['Authorization', ''],
    ['Authorization', 'Basic x'],
    ['Last-Event-ID', '-1'],
    ['X-Forwarded-Proto', 'javascript'],
    ['X-Svc-Setup-Token', 'x'],
    ['Idempotency-Key', 'the same'],
    ['Idempotency-Key', ''],
    ['X-Request-Id', 'x'.repeat(200)],
  ),
  fc
    .tuple(
      fc.constantFrom('Idempotency-Key', 'X-Request-Id', 'User-Agent', 'Referer'),
      fc.string({ maxLength: 40 }),
    )
    .map(([name, value]): WireHeader => [name, value.replace(/[^ -~]/g, '')]),
);

const headers = fc.array(extra, { maxLength: 2 });

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).slice(0, 2_000);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function inChunks(text: string): string {
  if (text === '') return '0\r\n\r\n';
  const middle = Math.floor(text.length / 2);
  const parts = [text.slice(0, middle), text.slice(middle)].filter((part) => part !== '');
  const chunks = parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`);
  return `${chunks.join('')}0\r\n\r\n`;
}
