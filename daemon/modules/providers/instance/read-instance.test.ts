import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../../../src/errors/app-error.ts';
import { Config } from '../../../config/config.ts';
import { silentLog } from '../../../log/log.ts';
import { readInstance } from './read-instance.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-instance-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** The providers of an svc.yaml and an environment, without what the catalog has filled in. */
function read(yaml: string, env: Record<string, string> = {}) {
  const file = join(dir, 'svc.yaml');
  writeFileSync(file, yaml);
  const config = new Config({ file, env: { SVC_DATA_DIR: dir, ...env } });
  return readInstance(config, silentLog).map(({ name, origin, place, models, keys }) => ({
    name,
    origin,
    baseUrl: place.baseUrl,
    needsKey: place.needsKey,
    settings: place.settings,
    models,
    keys: keys.map(({ id, name: keyName, secret, weight }) => [id, keyName, secret, weight]),
  }));
}

test('there is no provider without configuration', () => expect(read('')).toEqual([]));

describe('svc.yaml', () => {
  test('has an address, a key and a list of models', () => {
    const yaml =
      'providers:\n  box:\n    base_url: http://box.lan:8000/v1/\n    api_key: k\n    models: [a, b/c]\n';
    expect(read(yaml)).toMatchObject([
      {
        name: 'box',
        baseUrl: 'http://box.lan:8000/v1',
        keys: [['file', 'default', 'k', 1]],
        models: ['a', 'b/c'],
      },
    ]);
  });

  test('has several keys, taken from variables too', () => {
    const yaml =
      'providers:\n  groq:\n    keys:\n      - {api_key: "env:MINE", weight: 3}\n      - {name: b, api_key: two}\n      - {name: c, api_key: three, active: false}\n      - {name: d, api_key: "env:NOT_THERE"}\n';
    expect(read(yaml, { MINE: 'one' })[0]?.keys).toEqual([
      ['file', 'default', 'one', 3],
      ['file.b', 'b', 'two', 1],
    ]);
  });

  test('is not called without a key whose variable is not set', () => {
    const yaml = 'providers:\n  lab:\n    base_url: http://lab.lan/v1\n    api_key: env:NOT_THERE\n';
    expect(read(yaml)).toMatchObject([{ name: 'lab', keys: [], needsKey: true }]);
  });

  test('speaks other dialects with their settings', () => {
    const yaml =
      'providers:\n  bedrock-eu:\n    dialect: bedrock\n    api_key: k\n    settings: {region: eu-west-1}\n';
    expect(read(yaml)).toMatchObject([
      { baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com', settings: { region: 'eu-west-1' } },
    ]);
  });

  test('gives way to the environment, and keeps its list of models', () => {
    const yaml =
      'providers:\n  openai:\n    base_url: http://file.lan/v1\n    api_key: file\n    models: [m]\n';
    expect(read(yaml, { OPENAI_API_KEY: 'env' })).toMatchObject([
      { baseUrl: 'http://file.lan/v1', keys: [['env', 'OPENAI_API_KEY', 'env', 1]], models: ['m'] },
    ]);
  });

  test('may stand in a variable as JSON', () => {
    const json = JSON.stringify({ openai: { base_url: 'http://json.lan/v1', api_key: 'j' } });
    expect(read('', { SVC_PROVIDERS: json })).toMatchObject([
      { name: 'openai', baseUrl: 'http://json.lan/v1', keys: [['file', 'default', 'j', 1]] },
    ]);
  });
});

type Env = Record<string, string>;
const account = JSON.stringify({ client_email: 'a@b', private_key: 'p' });
writeFileSync(join(dir, 'account.json'), account);

const FOUND: ReadonlyArray<readonly [env: Env, expected: object]> = [
  [{ OPENAI_API_KEY: 'sk-1' }, { name: 'openai', baseUrl: 'https://api.openai.com/v1', needsKey: true }],
  [{ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, { name: 'openai', keys: [], needsKey: false }],
  [{ OPENAI_API_KEY: 'k', OPENAI_ORG_ID: 'org-1' }, { settings: { organization: 'org-1' } }],
  [{ ANTHROPIC_API_KEY: 'k' }, { name: 'anthropic', keys: [['env', 'ANTHROPIC_API_KEY', 'k', 1]] }],
  [{ GEMINI_API_KEY: 'k' }, { name: 'google', keys: [['env', 'GEMINI_API_KEY', 'k', 1]] }],
  [{ GOOGLE_API_KEY: 'a', GEMINI_API_KEY: 'b' }, { keys: [['env', 'GOOGLE_API_KEY', 'a', 1]] }],
  [
    { AZURE_OPENAI_API_KEY: 'k', AZURE_OPENAI_ENDPOINT: 'https://me.openai.azure.com/' },
    { name: 'azure', baseUrl: 'https://me.openai.azure.com/openai/v1' },
  ],
  [
    { AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'eu-west-1' },
    {
      name: 'bedrock',
      keys: [['env', 'AWS_ACCESS_KEY_ID', 'AKIA1:s', 1]],
      settings: { region: 'eu-west-1' },
    },
  ],
  [
    { AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't', AWS_DEFAULT_REGION: 'x' },
    { keys: [['env', 'AWS_ACCESS_KEY_ID', 'A:s:t', 1]] },
  ],
  [
    { AWS_BEARER_TOKEN_BEDROCK: 'b', AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'x' },
    { keys: [['env', 'AWS_BEARER_TOKEN_BEDROCK', 'b', 1]] },
  ],
  [
    { GOOGLE_APPLICATION_CREDENTIALS: join(dir, 'account.json'), GOOGLE_CLOUD_PROJECT: 'p' },
    { name: 'vertex', keys: [['env', 'GOOGLE_APPLICATION_CREDENTIALS', account, 1]] },
  ],
  [{ MISTRAL_API_KEY: 'k' }, { name: 'mistral' }],
  [{ CO_API_KEY: 'k' }, { name: 'cohere' }],
  [{ GROQ_API_KEY: 'k' }, { name: 'groq' }],
  [{ DEEPSEEK_API_KEY: 'k' }, { name: 'deepseek' }],
  [{ XAI_API_KEY: 'k' }, { name: 'xai' }],
  [{ TOGETHER_API_KEY: 'k' }, { name: 'together' }],
  [{ FIREWORKS_API_KEY: 'k' }, { name: 'fireworks' }],
  [{ OPENROUTER_API_KEY: 'k' }, { name: 'openrouter' }],
  [{ PERPLEXITY_API_KEY: 'k' }, { name: 'perplexity' }],
  [{ CEREBRAS_API_KEY: 'k' }, { name: 'cerebras' }],
  [{ VOYAGE_API_KEY: 'k' }, { name: 'voyage' }],
  [{ JINA_API_KEY: 'k' }, { name: 'jina' }],
  [{ VLLM_BASE_URL: 'http://10.0.0.9:8000' }, { name: 'vllm', baseUrl: 'http://10.0.0.9:8000/v1' }],
];

test.each(FOUND)('%j is picked up', (env, expected) => {
  expect(read('', env)).toMatchObject([expected]);
});

const LEFT_OUT: readonly Env[] = [
  { OPENAI_API_KEY: '  ' },
  { OPENAI_API_KEY: 'two\nlines' },
  { OPENAI_BASE_URL: 'nowhere' },
  { AZURE_OPENAI_API_KEY: 'no endpoint' },
  { AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 's' },
  { AWS_ACCESS_KEY_ID: 'A', AWS_REGION: 'x' },
  { GOOGLE_APPLICATION_CREDENTIALS: join(dir, 'missing.json'), GOOGLE_CLOUD_PROJECT: 'p' },
  { GOOGLE_APPLICATION_CREDENTIALS: join(dir, 'account.json') },
  { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
  { OPENAI_API_KEY: 's_mine', OPENAI_BASE_URL: 'http://localhost:8089/compat/v1' },
  { ANTHROPIC_API_KEY: 's_mine', ANTHROPIC_BASE_URL: 'http://127.0.0.1:8089/compat/anthropic' },
];

test.each(LEFT_OUT)('%j is left out, and the instance starts', (env) => {
  expect(read('', env)).toEqual([]);
});

const WRONG: ReadonlyArray<readonly [yaml: string, field: string]> = [
  ['{local: {base_url: "http://x/v1"}}', 'providers.local'],
  ['{catalog: {base_url: "http://x/v1"}}', 'providers.catalog'],
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
  ['{box: {base_url: "http://x/v1", api_key: "hunter2 two"}}', 'providers.box.api_key'],
  ['{box: {base_url: "http://x/v1", api_key: a, keys: []}}', 'providers.box.api_key'],
  ['{box: {base_url: "http://x/v1", keys: [{api_key: a, weight: 0}]}}', 'providers.box.keys.0.weight'],
  ['{box: {base_url: "http://x/v1", keys: [{name: a}]}}', 'providers.box.keys.0.api_key'],
  [
    '{box: {base_url: "http://x/v1", keys: [{api_key: a}, {name: default, api_key: b}]}}',
    'providers.box.keys.1.name',
  ],
  ['{box: {base_url: "http://x/v1", models: m}}', 'providers.box.models'],
  ['{box: {base_url: "http://x/v1", models: [""]}}', 'providers.box.models.0'],
  ['{box: {base_url: "http://x/v1", settings: {region: x}}}', 'providers.box.settings.region'],
  ['{bedrock: {api_key: k}}', 'providers.bedrock.settings.region'],
  ['{box: {base_url: "http://x/v1", apikey: hunter2}}', 'providers.box.apikey'],
];

test.each(WRONG)('%s is refused at %s', (yaml, field) => {
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
