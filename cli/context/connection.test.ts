import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionFlags, resolveConnection } from './connection.ts';
import { ContextStore } from './contexts.ts';
import type { Env } from './paths.ts';

const LOCAL = 'http://127.0.0.1:8089';

let dir: string;
let store: ContextStore;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-cli-connection-'));
  store = new ContextStore({ XDG_CONFIG_HOME: dir });
  writeFileSync(join(dir, 'root.key'), 's_root\n');
});

afterEach(() => rmSync(dir, { recursive: true }));

function resolved(flags: ConnectionFlags = {}, env: Env = {}) {
  const { url, credential, source } = resolveConnection(flags, { SVC_DATA_DIR: dir, ...env }, store);
  return { url, key: credential.apiKey, source };
}

function addContexts(): void {
  store.save({ name: 'work', apiUrl: 'https://work.example' });
  store.remember('work', { apiKey: 's_work' });
  store.save({ name: 'home', apiUrl: 'https://home.example' });
  store.remember('home', { apiKey: 's_home' });
}

describe('the daemon to call', () => {
  test('is that of this machine, with its root key, when nothing else is said', () => {
    expect(resolved()).toEqual({ url: LOCAL, key: 's_root', source: 'this machine' });
  });

  test('is where the running daemon of the data directory said', () => {
    const record = { pid: 1, mark: 'x', url: 'http://127.0.0.1:9000', version: '0', startedAt: 0 };
    writeFileSync(join(dir, 'daemon.json'), JSON.stringify(record));
    expect(resolved()).toMatchObject({ url: 'http://127.0.0.1:9000', key: 's_root' });
  });

  test('is the active context, then the environment, then a named context, then the flag', () => {
    addContexts();
    const env = { SVC_API_URL: 'https://env.example', SVC_API_KEY: 's_env' };
    expect(resolved()).toEqual({ url: 'https://work.example', key: 's_work', source: 'context work' });
    expect(resolved({}, env)).toEqual({ url: 'https://env.example', key: 's_env', source: 'SVC_API_URL' });
    expect(resolved({ context: 'home' }, { SVC_API_URL: 'https://env.example' })).toMatchObject({
      url: 'https://home.example',
      key: 's_home',
    });
    expect(resolved({ apiUrl: 'https://flag.example', apiKey: 's_flag' }, env)).toMatchObject({
      url: 'https://flag.example',
      key: 's_flag',
    });
  });

  test('a named context that is not there is an error', () => {
    expect(() => resolved({ context: 'nowhere' })).toThrow('There is no context "nowhere".');
  });

  test('an active context that was removed by hand is passed over', () => {
    addContexts();
    store.remove('work');
    expect(resolved().url).toBe(LOCAL);
  });
});

describe('a stored key', () => {
  test('does not follow to another address', () => {
    addContexts();
    expect(resolved({ apiUrl: 'https://evil.example' }).key).toBeUndefined();
    expect(resolved({}, { SVC_API_URL: 'https://evil.example' }).key).toBeUndefined();
    expect(resolved({ apiUrl: 'http://work.example' }).key).toBeUndefined();
  });

  test('goes with the address that it was stored for, however that was named', () => {
    addContexts();
    expect(resolved({ apiUrl: 'https://home.example/' }).key).toBe('s_home');
    expect(resolved({ apiUrl: LOCAL }).key).toBe('s_root');
  });
});
