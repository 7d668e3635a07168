import { describe, expect, test } from 'bun:test';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { fail } from '../../../../src/errors/app-error.ts';
import type { Caller } from '../../../http/route.ts';
import { silentLog } from '../../../log/log.ts';
import type { InboundTool } from '../face.ts';
import { InboundServer } from './server.ts';

const member: Caller = { tenant: 'org_1', role: 'member', actor: 'key_1', via: 'api-key' };
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const tool = (name: string, run: InboundTool['run'], more: Partial<InboundTool> = {}): InboundTool => ({
  ...{ name, run, description: name, inputSchema: text, access: 'viewer', effect: 'reads' },
  ...more,
});
const tools = [
  tool('echo', async (_, args) => args.text),
  tool('breaks', async () => Promise.reject(new Error('a secret'))),
  tool('refuses', async () => Promise.reject(fail('sandbox_not_found', { id: 'box' }))),
  tool('owners', async () => 'ok', { access: 'owner', effect: 'destroys' }),
  tool('off', async () => 'never'),
];
const inbound = new InboundServer({
  version: '1.2.3',
  log: silentLog,
  tools: () => tools,
  isOn: (_, name) => name !== 'off',
  switches: () => new Map([['off', false]]),
});

const META = 'io.modelcontextprotocol/';
const envelope = (version: unknown = '2026-07-28') => ({
  [`${META}protocolVersion`]: version,
  [`${META}clientInfo`]: { name: 'c', version: '1' },
  [`${META}clientCapabilities`]: {},
});
const rpc = (method: string, params?: object, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const post = (body: unknown, headers: Record<string, string> = {}) =>
  new Request('http://svc.test/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  });
const answer = async (body: unknown, headers: Record<string, string> = {}, caller = member) => {
  const request = post(body, headers);
  const { status, body: reply } = await inbound.answer({ caller, body, request, signal: request.signal });
  return { status, reply: reply as Record<string, never> | undefined };
};

/** The official library, as the oracle of the newest revision. */
const oracle = createMcpHandler(
  () => {
    const server = new Server({ name: 'svc', version: '1.2.3' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', async () => ({ tools: [] }));
    server.setRequestHandler('tools/call', async () => ({ content: [{ type: 'text', text: 'hi' }] }));
    return server;
  },
  { legacy: 'reject', responseMode: 'json' },
);

describe('in the stateless revision, what is answered is what the official library answers', () => {
  const now = '2026-07-28';
  const call = { name: 'echo', arguments: { text: 'hi' }, _meta: envelope() };
  test.each<[string, unknown, Record<string, string>]>([
    ['discover', rpc('server/discover', { _meta: envelope() }), { 'mcp-method': 'server/discover' }],
    ['tools/list', rpc('tools/list', { _meta: envelope() }), { 'mcp-method': 'tools/list' }],
    ['a call', rpc('tools/call', call), { 'mcp-method': 'tools/call', 'mcp-name': 'echo' }],
    [
      'an encoded name',
      rpc('tools/call', call),
      { 'mcp-method': 'tools/call', 'mcp-name': '=?base64?ZWNobw==?=' },
    ],
    ['another name', rpc('tools/call', call), { 'mcp-method': 'tools/call', 'mcp-name': 'other' }],
    ['no name', rpc('tools/call', call), { 'mcp-method': 'tools/call' }],
    ['another method', rpc('tools/call', call), { 'mcp-method': 'tools/list', 'mcp-name': 'echo' }],
    ['no method header', rpc('tools/list', { _meta: envelope() }), {}],
    [
      'no version header',
      rpc('tools/list', { _meta: envelope() }),
      { 'mcp-method': 'tools/list', [now]: '' },
    ],
    [
      'another version header',
      rpc('tools/list', { _meta: envelope() }),
      { 'mcp-protocol-version': '2025-06-18', 'mcp-method': 'tools/list' },
    ],
    [
      'a newer version',
      rpc('tools/list', { _meta: envelope('2027-01-01') }),
      { 'mcp-protocol-version': '2027-01-01', 'mcp-method': 'tools/list' },
    ],
    ['a version that is no text', rpc('tools/list', { _meta: envelope(7) }), { 'mcp-method': 'tools/list' }],
    [
      'no capabilities',
      rpc('tools/list', { _meta: { ...envelope(), [`${META}clientCapabilities`]: undefined } }),
      { 'mcp-method': 'tools/list' },
    ],
    [
      'a client that is no object',
      rpc('tools/list', { _meta: { ...envelope(), [`${META}clientInfo`]: 'c' } }),
      { 'mcp-method': 'tools/list' },
    ],
    ['no envelope', rpc('tools/list', {}), { 'mcp-method': 'tools/list' }],
    ['ping, which is gone', rpc('ping', { _meta: envelope() }), { 'mcp-method': 'ping' }],
    ['initialize, which is gone', rpc('initialize', { protocolVersion: '2025-06-18' }), {}],
    ['a method that nobody knows', rpc('nope', { _meta: envelope() }), { 'mcp-method': 'nope' }],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/x', params: { _meta: envelope() } }, {}],
    ['a batch', [rpc('tools/list', { _meta: envelope() })], {}],
    ['no version of JSON-RPC', { id: 1, method: 'tools/list' }, {}],
    ['no method', { jsonrpc: '2.0', id: 1 }, {}],
    ['nothing', null, {}],
    ['text', 'x', {}],
  ])('%s', async (name, body, given) => {
    const { [now]: isBare, ...own } = given;
    const headers = isBare === '' ? own : { 'mcp-protocol-version': now, ...own };
    const expected = await oracle.fetch(post(body, headers));
    const words = await expected.text();
    const wanted = words === '' ? undefined : (JSON.parse(words) as Record<string, never>);
    const { status, reply } = await answer(body, headers);
    expect([name, status, reply?.error?.['code' as never]]).toEqual([
      name,
      expected.status,
      wanted?.error?.['code' as never],
    ] as never);
    expect(
      Object.keys(reply?.result ?? {})
        .filter((key) => key !== 'instructions')
        .sort(),
    ).toEqual(Object.keys(wanted?.result ?? {}).sort());
  });
});

describe('in the revisions that begin with a greeting', () => {
  test.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['1999-01-01', '2025-03-26'],
    [undefined, '2025-03-26'],
  ])('a client of %s is greeted in %s', async (protocolVersion, expected) => {
    const { status, reply } = await answer(rpc('initialize', { protocolVersion }));
    expect(status).toBe(200);
    expect(reply?.result).toMatchObject({
      protocolVersion: expected,
      capabilities: { tools: {} },
      serverInfo: { name: 'svc', version: '1.2.3' },
    });
  });

  test.each<[string, unknown, Record<string, string>, object]>([
    ['ping', rpc('ping'), {}, { status: 200, reply: { result: {} } }],
    ['an unknown method', rpc('nope'), {}, { status: 200, reply: { error: { code: -32601 } } }],
    [
      'the end of a greeting',
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      {},
      { status: 202, reply: undefined },
    ],
    ['an unknown notification', { jsonrpc: '2.0', method: 'nope' }, {}, { status: 202, reply: undefined }],
    ['an answer to nothing', { jsonrpc: '2.0', id: 1, result: {} }, {}, { status: 202, reply: undefined }],
    ['a batch', [rpc('ping')], {}, { status: 400, reply: { id: null, error: { code: -32600 } } }],
    [
      'a known version',
      rpc('ping'),
      { 'mcp-protocol-version': '2025-06-18' },
      { status: 200, reply: { result: {} } },
    ],
    [
      'an unknown version',
      rpc('ping'),
      { 'mcp-protocol-version': '1999-01-01' },
      { status: 400, reply: { error: { code: -32022 } } },
    ],
    ['an id that is text', rpc('ping', undefined, 'a'), {}, { status: 200, reply: { id: 'a', result: {} } }],
    [
      'parameters that are none',
      { ...rpc('ping'), params: [1] },
      {},
      { status: 400, reply: { id: 1, error: { code: -32600 } } },
    ],
    [
      'an unknown tool',
      rpc('tools/call', { name: 'nope' }),
      {},
      { status: 200, reply: { error: { code: -32602 } } },
    ],
    [
      'a tool that is off',
      rpc('tools/call', { name: 'off', arguments: { text: '' } }),
      {},
      { status: 200, reply: { error: { code: -32602 } } },
    ],
    [
      'arguments that are none',
      rpc('tools/call', { name: 'echo', arguments: [1] }),
      {},
      { status: 200, reply: { error: { code: -32602 } } },
    ],
  ])('%s', async (_, body, headers, expected) => {
    const { status, reply } = await answer(body, headers);
    expect({ status, reply }).toMatchObject(expected);
  });
});

describe('tools', () => {
  const call = async (name: string, args: object, caller = member) =>
    (await answer(rpc('tools/call', { name, arguments: args }), {}, caller)).reply?.result as never as {
      isError?: boolean;
      content: Array<{ text: string }>;
    };

  test('are listed for whom they are on, by role', async () => {
    const names = async (caller: Caller) => {
      const { reply } = await answer(rpc('tools/list'), {}, caller);
      const { tools: listed } = (reply?.result ?? {}) as { tools?: Array<{ name: string }> };
      return (listed ?? []).map(({ name }) => name);
    };
    expect(await names(member)).toEqual(['echo', 'breaks', 'refuses']);
    expect(await names({ ...member, role: 'owner' })).toEqual(['echo', 'breaks', 'refuses', 'owners']);
  });

  test.each<[string, string, object, boolean, string]>([
    ['answer', 'echo', { text: 'hi' }, false, 'hi'],
    ['tell what is wrong with arguments', 'echo', { text: 1 }, true, 'text: must be string'],
    ['tell how they fail', 'refuses', { text: '' }, true, 'There is no sandbox "box"'],
    [
      'keep the words of errors of the program to themselves',
      'breaks',
      { text: '' },
      true,
      'Something went wrong inside svc',
    ],
    ['need a role', 'owners', { text: '' }, true, 'This needs the role owner'],
  ])('%s', async (_, name, args, isError, words) => {
    const result = await call(name, args);
    expect(result.isError ?? false).toBe(isError);
    expect(result.content[0]?.text).toStartWith(words);
    expect(JSON.stringify(result)).not.toContain('a secret');
  });
});

test('whatever is sent, the answer is one JSON-RPC answer or none', async () => {
  const json = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        jsonrpc: fc.constantFrom('2.0', '1.0', 2),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.double()),
        method: fc.oneof(fc.constantFrom('tools/call', 'tools/list', 'initialize', 'ping'), fc.string()),
        params: fc.oneof(
          fc.jsonValue(),
          fc.record(
            {
              name: fc.constantFrom('echo', '__proto__'),
              arguments: fc.jsonValue(),
              _meta: fc.constant(envelope()),
            },
            { requiredKeys: [] },
          ),
        ),
      },
      { requiredKeys: [] },
    ),
  );
  await fc.assert(
    fc.asyncProperty(json, async (body) => {
      const { status, reply } = await answer(body);
      expect([200, 202, 400, 404]).toContain(status);
      if (status === 202) expect(reply).toBeUndefined();
      else expect('result' in (reply ?? {})).not.toBe('error' in (reply ?? {}));
    }),
    { numRuns: 300 },
  );
});
