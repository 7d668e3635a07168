import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AppError } from '../../../../src/errors/app-error.ts';
import { readConfig, readFilter, showConfig, type WantedServer } from './config.ts';

const fieldOf = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof AppError ? error.violations[0]?.field : 'threw';
  }
};

const url = 'https://mcp.example.com/mcp';
const bearer = { authType: 'MCP_AUTH_TYPE_BEARER' as const, authConfig: { token: 'token-of-theirs' } };
const oauth = {
  authType: 'MCP_AUTH_TYPE_OAUTH2' as const,
  authConfig: {
    client_id: 'me',
    clientSecret: 'secret-of-mine',
    authorize_url: 'https://as.example.com/authorize',
    token_url: 'https://as.example.com/token',
    scopes: ['read', 'write'],
  },
};
const stdio = { stdioConfig: { command: 'npx', args: ['-y', 'x'], env: { KEY: 'value-of-mine' } } };

describe('a configuration', () => {
  test.each<[string, WantedServer, object]>([
    ['an address is streamable HTTP', { url }, { transport: 'http', url, auth: { kind: 'none' } }],
    ['a program is stdio', stdio, { transport: 'stdio', url: '', stdio: { command: 'npx' } }],
    [
      'fields have the names that others use, too',
      { url, ...oauth },
      { auth: { clientId: 'me', tokenUrl: 'https://as.example.com/token', scopes: ['read', 'write'] } },
    ],
    [
      'a key goes into X-API-Key',
      { url, authType: 'MCP_AUTH_TYPE_API_KEY', authConfig: { key: 'k' } },
      { auth: { header: 'X-API-Key', apiKey: 'k' } },
    ],
  ])('%s', (_, sent, expected) => {
    expect(readConfig(sent)).toMatchObject(expected);
  });

  test.each<[string, WantedServer, WantedServer, string | undefined]>([
    ['the masks come back', { url, ...bearer }, { authConfig: { token: '****eirs' } }, undefined],
    ['another place has the same origin', { url, ...bearer }, { url: `${url}/v2` }, undefined],
    ['another server would get the token', { url, ...bearer }, { url: 'https://thief.test/' }, 'url'],
    [
      'another server gets a token of its own',
      { url, ...bearer },
      { url: 'https://other.test/', authConfig: { token: 'another-token' } },
      undefined,
    ],
    [
      'another server would get a header',
      { url, headers: { 'X-A': 'value-of-mine' } },
      { url: 'https://thief.test/' },
      'url',
    ],
    [
      'another server gets what is no secret',
      { url, headers: { Prefer: 'x' } },
      { url: 'https://b.test/' },
      undefined,
    ],
    [
      'another token endpoint would get the secret',
      { url, ...oauth },
      {
        authConfig: { ...oauth.authConfig, clientSecret: '****mine', token_url: 'https://thief.test/token' },
      },
      'authConfig.tokenUrl',
    ],
    [
      'another program would get the environment',
      stdio,
      { stdioConfig: { args: ['-c', 'env'] } },
      'stdioConfig.command',
    ],
    [
      'another program gets one of its own',
      stdio,
      { stdioConfig: { args: ['-c', 'env'], env: { KEY: 'another-value' } } },
      undefined,
    ],
    ['a mask of nothing', { url }, { headers: { 'X-A': '****mine' } }, 'headers.X-A'],
    [
      'another way of proof needs its own',
      { url, ...bearer },
      { authType: 'MCP_AUTH_TYPE_API_KEY' },
      'authConfig.apiKey',
    ],
    ['no proof any more', { url, ...bearer }, { authType: 'MCP_AUTH_TYPE_NONE' }, undefined],
  ])('a change: %s', (_, first, change, field) => {
    const before = readConfig(first);
    expect(fieldOf(() => readConfig(change, before))).toBe(field);
  });

  test('a kept secret is the secret, not its mask', () => {
    const before = readConfig({ url, ...bearer });
    const after = readConfig({ authConfig: showConfig(before).authConfig, url: `${url}?v=2` }, before);
    expect(after.auth).toEqual({ kind: 'bearer', token: 'token-of-theirs' });
  });

  test('whatever is shown can be sent back and changes nothing, and shows no secret', () => {
    const secret = fc.stringMatching(/^[!-~]{9,40}$/).filter((text) => !text.startsWith('****'));
    const name = fc.stringMatching(/^X-[A-Z][a-z]{1,8}$/);
    fc.assert(
      fc.property(fc.dictionary(name, secret, { maxKeys: 4 }), secret, (headers, token) => {
        const before = readConfig({ url, headers, ...bearer, authConfig: { token } });
        const shown = showConfig(before);
        for (const one of [...Object.values(headers), token])
          expect(JSON.stringify(shown)).not.toContain(JSON.stringify(one));
        expect(readConfig({ authConfig: shown.authConfig, headers: shown.headers }, before)).toEqual(before);
      }),
    );
  });
});

test.each<[string, WantedServer['toolFilter'], unknown]>([
  ['nothing', undefined, undefined],
  ['an empty one', { tools: [] }, undefined],
  ['names once', { type: 'include', tools: ['a', 'a'] }, { type: 'include', tools: ['a'] }],
  ['none at all', { type: 'include', tools: [] }, { type: 'include', tools: [] }],
])('a filter of %s', (_, sent, expected) => {
  expect(readFilter(sent)).toEqual(expected as never);
});
