import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../../src/errors/app-error.ts';
import { Config } from '../../config/config.ts';
import { readProviders } from './provider-settings.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-providers-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Reads the providers of an svc.yaml and an environment. */
function read(yaml: string, env: Record<string, string> = {}) {
  const file = join(dir, 'svc.yaml');
  writeFileSync(file, yaml);
  return readProviders(new Config({ file, env: { SVC_DATA_DIR: dir, ...env } }));
}

test('there is no upstream without configuration', () => expect(read('')).toEqual([]));

test('an upstream has an address, a key and a list of models', () => {
  const yaml =
    'providers:\n  box:\n    base_url: http://box.lan:8000/v1/\n    api_key: k\n    models: [a, b/c]\n';
  expect(read(yaml)).toEqual([
    { name: 'box', baseUrl: 'http://box.lan:8000/v1', apiKey: 'k', models: ['a', 'b/c'] },
  ]);
});

test('OPENAI_API_KEY alone configures openai at its usual address', () => {
  expect(read('', { OPENAI_API_KEY: 'sk-1' })).toEqual([
    { name: 'openai', baseUrl: 'https://api.openai.com/v1', apiKey: 'sk-1', models: undefined },
  ]);
});

test('OPENAI_BASE_URL alone configures openai without a key', () => {
  expect(read('', { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' })).toMatchObject([
    { name: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKey: '' },
  ]);
});

test('the environment wins over the file, which keeps its list of models', () => {
  const yaml =
    'providers:\n  openai:\n    base_url: http://file.lan/v1\n    api_key: file\n    models: [m]\n';
  expect(read(yaml, { OPENAI_API_KEY: 'env' })).toEqual([
    { name: 'openai', baseUrl: 'http://file.lan/v1', apiKey: 'env', models: ['m'] },
  ]);
});

test('a mapping in a variable configures openai too', () => {
  const json = JSON.stringify({ openai: { base_url: 'http://json.lan/v1', api_key: 'j' } });
  expect(read('', { SVC_PROVIDERS: json })).toMatchObject([
    { name: 'openai', baseUrl: 'http://json.lan/v1', apiKey: 'j' },
  ]);
});

const WRONG: ReadonlyArray<readonly [yaml: string, field: string]> = [
  ['{local: {base_url: "http://x/v1"}}', 'providers.local'],
  ['{"a/b": {base_url: "http://x/v1"}}', 'providers.a/b'],
  ['{Box: {base_url: "http://x/v1"}}', 'providers.Box'],
  ['{box: text}', 'providers.box'],
  ['{box: [1]}', 'providers.box'],
  ['{box: {}}', 'providers.box.base_url'],
  ['{box: {base_url: 5}}', 'providers.box.base_url'],
  ['{box: {base_url: nowhere}}', 'providers.box.base_url'],
  ['{box: {base_url: "ftp://x/"}}', 'providers.box.base_url'],
  ['{box: {base_url: "http://u:hunter2@x/"}}', 'providers.box.base_url'],
  ['{box: {base_url: "http://x/v1?key=1"}}', 'providers.box.base_url'],
  ['{box: {base_url: "http://x/v1", api_key: 7}}', 'providers.box.api_key'],
  ['{box: {base_url: "http://x/v1", models: m}}', 'providers.box.models'],
  ['{box: {base_url: "http://x/v1", models: [""]}}', 'providers.box.models'],
  ['{box: {base_url: "http://x/v1", apikey: hunter2}}', 'providers.box.apikey'],
];

for (const [yaml, field] of WRONG)
  test(`${yaml} is refused at ${field}`, () => {
    let thrown: unknown;
    try {
      read(`providers: ${yaml}\n`);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(AppError);
    expect((thrown as AppError).violations[0]?.field).toBe(field);
    expect((thrown as AppError).message).not.toContain('hunter2');
  });
