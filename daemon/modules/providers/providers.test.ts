import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { providerCatalog } from '../../../src/api/providers/catalog.ts';
import { providerKeys } from '../../../src/api/providers/keys.ts';
import { INSTANCE, OTHER, Scene } from './testing/scene.ts';

const KEY = 'sk-own-secret-aaaa1111';
const SECOND = 'sk-own-secret-bbbb2222';
const ENV_KEY = 'sk-env-secret-cccc3333';

let scene: Scene;
beforeEach(() => {
  scene = new Scene({ OPENAI_API_KEY: ENV_KEY });
});
afterEach(() => scene.close());

const configure = (tenant: string, providerName: string, body: object) =>
  scene.call(tenant, providerCatalog.ConfigureProvider, { params: { providerName }, body });
const addKey = async (tenant: string, body: object) =>
  (await scene.call(tenant, providerKeys.AddProviderAPIKey, { body })).key ?? {};
const keysOf = async (tenant: string, providerConfigId: string) =>
  (await scene.call(tenant, providerKeys.ListProviderAPIKeys, { params: { providerConfigId } })).keys ?? [];
const statusOf = async (tenant: string, providerName: string) =>
  (await scene.call(tenant, providerCatalog.GetProvider, { params: { providerName } })).provider ?? {};

describe('a provider', () => {
  test.each(['ollama', 'vllm'])(
    'that the catalog has on this machine is no way into it for other tenants: %s',
    async (name) => {
      await configure(OTHER, name, {});
      await configure(INSTANCE, name, {});
      expect(scene.account(OTHER, name)).toMatchObject({ trust: 'tenant' });
      expect(scene.account(INSTANCE, name)).toMatchObject({ trust: 'operator' });
    },
  );

  test('of the environment is there for everybody', () => {
    for (const tenant of [INSTANCE, OTHER]) expect(scene.secrets(tenant, 'openai')).toEqual([ENV_KEY]);
    expect(scene.directory.of(OTHER)).toBe(scene.directory.of('org_third'));
    expect(scene.directory.of(OTHER).map(({ name }) => name)).toEqual(['openai', 'local']);
  });

  test('of the environment is for the instance’s own tenant alone, when it is not shared', async () => {
    await scene.close();
    scene = new Scene({ OPENAI_API_KEY: ENV_KEY, SVC_GATEWAY_SHARE_PROVIDERS: 'false' });
    expect(scene.directory.of(OTHER).map(({ name }) => name)).toEqual(['local']);
    expect(scene.secrets(INSTANCE, 'openai')).toEqual([ENV_KEY]);
    expect((await scene.call(OTHER, providerCatalog.ListConfiguredProviders)).providers).toEqual([]);
    await configure(OTHER, 'groq', { apiKey: KEY });
    expect(scene.directory.of(OTHER).map(({ name }) => name)).toEqual(['groq', 'local']);
  });

  test('is the same object until it changes', async () => {
    await configure(OTHER, 'groq', { apiKey: KEY });
    const before = scene.directory.of(OTHER);
    expect(scene.directory.of(OTHER)).toBe(before);
    expect(Object.isFrozen(before) && before.every((account) => Object.isFrozen(account.keys))).toBe(true);
    await configure(OTHER, 'mistral', { apiKey: KEY });
    const after = scene.directory.of(OTHER);
    expect(after).not.toBe(before);
    expect(after.find(({ name }) => name === 'groq')).toBe(before.find(({ name }) => name === 'groq'));
  });

  test('of one tenant is not of another', async () => {
    await configure(OTHER, 'groq', { apiKey: KEY });
    expect(scene.secrets(OTHER, 'groq')).toEqual([KEY]);
    expect(scene.account(INSTANCE, 'groq')).toBeUndefined();
    expect((await statusOf(INSTANCE, 'groq')).isConfigured).toBe(false);
  });

  test('of a tenant takes the place of the instance’s: its keys are never mixed with the instance’s', async () => {
    await configure(OTHER, 'openai', { apiKey: KEY });
    expect(scene.secrets(OTHER, 'openai')).toEqual([KEY]);
    const [key] = await keysOf(OTHER, 'openai');
    await scene.call(OTHER, providerKeys.ToggleAPIKey, {
      params: { keyId: key?.id ?? '' },
      body: { isActive: false },
    });
    expect(scene.account(OTHER, 'openai')).toMatchObject({ keys: [], needsKey: true });
    await scene.call(OTHER, providerKeys.DeleteProviderAPIKey, { params: { keyId: key?.id ?? '' } });
    expect(scene.account(OTHER, 'openai')).toMatchObject({ keys: [], needsKey: true });
    expect((await statusOf(OTHER, 'openai')).configuration?.problem).toContain('no key');
    await scene.call(OTHER, providerCatalog.DeleteProviderConfiguration, {
      params: { providerName: 'openai' },
    });
    expect(scene.secrets(OTHER, 'openai')).toEqual([ENV_KEY]);
  });

  test('of the instance’s own tenant keeps the configuration’s keys beside its own', async () => {
    await configure(INSTANCE, 'openai', { enabledModels: ['gpt-5'] });
    expect(scene.account(INSTANCE, 'openai')?.models).toEqual(['gpt-5']);
    expect(scene.secrets(INSTANCE, 'openai')).toEqual([ENV_KEY]);
    await addKey(INSTANCE, { providerConfigId: 'openai', apiKey: KEY, weight: 3 });
    expect(scene.secrets(INSTANCE, 'openai')).toEqual([KEY, ENV_KEY]);
    expect(scene.account(OTHER, 'openai')?.models).toBeUndefined();
  });

  test('never sends the configuration’s key to an address of the API', async () => {
    await configure(INSTANCE, 'openai', { customBaseUrl: 'http://elsewhere.lan/v1' });
    expect(scene.account(INSTANCE, 'openai')).toMatchObject({ baseUrl: 'http://elsewhere.lan/v1', keys: [] });
  });

  test('at an address of another tenant is trusted as that tenant is', async () => {
    await configure(OTHER, 'lab', { customBaseUrl: 'https://lab.example/v1' });
    await configure(OTHER, 'groq', { apiKey: KEY });
    await configure(INSTANCE, 'lab', { customBaseUrl: 'http://10.0.0.5/v1' });
    expect(scene.account(OTHER, 'lab')?.trust).toBe('tenant');
    expect(scene.account(OTHER, 'groq')?.trust).toBe('operator');
    expect(scene.account(INSTANCE, 'lab')?.trust).toBe('operator');
  });

  test('does not take its stored keys along to another server', async () => {
    const lab = (customBaseUrl: string, apiKey?: string) => ({
      customBaseUrl,
      ...(apiKey ? { apiKey } : {}),
    });
    const move = (body: object) =>
      scene.refused(OTHER, providerCatalog.ConfigureProvider, { params: { providerName: 'lab' }, body });
    await configure(OTHER, 'lab', lab('https://lab.example/v1', KEY));
    expect(await move(lab('https://evil.example/v1'))).toMatchObject({ field: 'apiKey' });
    expect(await move(lab('https://evil.example/v1', '****1111'))).toMatchObject({ field: 'apiKey' });
    await configure(OTHER, 'lab', lab('https://lab.example/v2'));
    await addKey(OTHER, { providerConfigId: 'lab', apiKey: SECOND });
    expect(await move(lab('https://evil.example/v1', 'sk-new'))).toMatchObject({ field: 'customBaseUrl' });
    expect(scene.account(OTHER, 'lab')).toMatchObject({ baseUrl: 'https://lab.example/v2', keys: [{}, {}] });
  });

  test('takes a masked key as unchanged, and an empty one', async () => {
    const { provider } = await configure(OTHER, 'groq', { apiKey: KEY });
    const shown = provider?.configuration?.apiKey ?? '';
    expect(shown).toBe('****1111');
    for (const apiKey of [shown, '', '****'])
      await configure(OTHER, 'groq', { apiKey, customSettings: {}, enabledModels: ['m'] });
    expect(scene.secrets(OTHER, 'groq')).toEqual([KEY]);
    await configure(OTHER, 'groq', { apiKey: SECOND });
    expect(scene.secrets(OTHER, 'groq')).toEqual([SECOND]);
  });

  test('keeps what a change does not name, and lets go of what it empties', async () => {
    await configure(INSTANCE, 'azure', {
      apiKey: KEY,
      customBaseUrl: 'https://me.openai.azure.com',
      customSettings: { api_version: '2024-10-21', 'deployment.gpt-5': 'mine' },
      enabledModels: ['gpt-5'],
    });
    await configure(INSTANCE, 'azure', { enabledModels: [] });
    expect(scene.account(INSTANCE, 'azure')).toMatchObject({
      baseUrl: 'https://me.openai.azure.com/openai',
      settings: { api_version: '2024-10-21', 'deployment.gpt-5': 'mine' },
    });
    expect(scene.account(INSTANCE, 'azure')?.models).toBeUndefined();
    await configure(INSTANCE, 'azure', { customSettings: {} });
    expect(scene.account(INSTANCE, 'azure')?.baseUrl).toBe('https://me.openai.azure.com/openai/v1');
  });

  test('shows another tenant nothing of the instance’s key and address', async () => {
    await scene.close();
    scene = new Scene({ OPENAI_API_KEY: ENV_KEY, OPENAI_BASE_URL: 'http://10.9.8.7/v1' });
    const text = JSON.stringify(await scene.call(OTHER, providerCatalog.ListConfiguredProviders));
    expect(text).not.toContain('3333');
    expect(text).not.toContain('10.9.8.7');
    expect(await keysOf(OTHER, 'openai')).toEqual([]);
    const mine = await statusOf(INSTANCE, 'openai');
    expect(mine.configuration).toMatchObject({ apiKey: '****3333', customBaseUrl: 'http://10.9.8.7/v1' });
    await configure(INSTANCE, 'openai', { customBaseUrl: 'http://10.9.8.7/v1', apiKey: '****3333' });
    expect(scene.secrets(INSTANCE, 'openai')).toEqual([ENV_KEY]);
  });

  test('was last used when a call went to it, also after a restart', async () => {
    scene.directory.used(OTHER, 'openai');
    const before = (await statusOf(OTHER, 'openai')).configuration?.lastUsedAt;
    expect(before).toMatch(/^2023-11-14T/);
    await scene.restart();
    expect((await statusOf(OTHER, 'openai')).configuration?.lastUsedAt).toBe(before);
    expect((await statusOf(INSTANCE, 'openai')).configuration?.lastUsedAt).toBeUndefined();
  });
});

const REFUSED: ReadonlyArray<readonly [name: string, body: object, code: string, field?: string]> = [
  ['local', {}, 'invalid_argument', 'providerName'],
  ['Groq', { apiKey: KEY }, 'invalid_argument', 'providerName'],
  ['catalog', { apiKey: KEY }, 'invalid_argument', 'providerName'],
  ['groq', {}, 'invalid_argument', 'apiKey'],
  ['groq', { apiKey: '****1111' }, 'invalid_argument', 'apiKey'],
  ['groq', { apiKey: 'two words' }, 'invalid_argument', 'apiKey'],
  ['groq', { apiKey: `k\r\nx-evil: ${KEY}` }, 'invalid_argument', 'apiKey'],
  ['groq', { apiKey: KEY, enabledModels: [''] }, 'invalid_argument', 'enabledModels.0'],
  ['groq', { apiKey: KEY, customSettings: { region: 'x' } }, 'invalid_argument', 'customSettings.region'],
  ['groq', { apiKey: KEY, customBaseUrl: 'http://u:p@x' }, 'invalid_argument', 'customBaseUrl'],
  [
    'groq',
    { apiKey: KEY, customSettings: { dialect: 'gemini' } },
    'invalid_argument',
    'customSettings.dialect',
  ],
  ['lab', { apiKey: KEY }, 'invalid_argument', 'customBaseUrl'],
  [
    'vertex',
    { apiKey: '{"client_email": 1}', customSettings: { project: 'p' } },
    'invalid_argument',
    'apiKey',
  ],
];

test.each(REFUSED)('%s with %j is %s at %s, and nothing changes', async (providerName, body, code, field) => {
  const before = scene.dump();
  const refused = await scene.refused(OTHER, providerCatalog.ConfigureProvider, {
    params: { providerName },
    body,
  });
  expect(refused).toMatchObject({ code, ...(field ? { field } : {}) });
  expect(refused.message).not.toContain(KEY);
  expect(scene.dump()).toBe(before);
});

describe('keys', () => {
  test('are several, weighted and switched, and none is shown', async () => {
    await configure(OTHER, 'groq', { apiKey: KEY });
    const second = await addKey(OTHER, { providerConfigId: 'groq', apiKey: SECOND, weight: 4, keyName: 'b' });
    expect(second).toMatchObject({
      keyName: 'b',
      keyMasked: '****2222',
      weight: 4,
      isActive: true,
      source: 'manual',
    });
    const params = { keyId: second.id ?? '' };
    await scene.call(OTHER, providerKeys.UpdateAPIKeyWeight, { params, body: { weight: 9 } });
    expect(scene.account(OTHER, 'groq')?.keys.map(({ weight }) => weight)).toEqual([1, 9]);
    await scene.call(OTHER, providerKeys.ToggleAPIKey, { params, body: { isActive: false } });
    expect(scene.secrets(OTHER, 'groq')).toEqual([KEY]);
    expect(JSON.stringify(await keysOf(OTHER, 'groq'))).not.toContain('secret');
  });

  test('set a provider of the catalog up by themselves', async () => {
    await addKey(OTHER, { providerConfigId: 'anthropic', apiKey: KEY });
    expect(scene.secrets(OTHER, 'anthropic')).toEqual([KEY]);
    expect(
      await scene.refused(OTHER, providerKeys.AddProviderAPIKey, {
        body: { providerConfigId: 'nope', apiKey: KEY },
      }),
    ).toMatchObject({ code: 'provider_not_found' });
    expect(
      await scene.refused(OTHER, providerKeys.AddProviderAPIKey, {
        body: { providerConfigId: 'bedrock', apiKey: KEY },
      }),
    ).toMatchObject({ field: 'customSettings.region' });
  });

  test('of the configuration are switched and weighted by its own tenant alone, for everybody, and stay so', async () => {
    const params = { keyId: 'env.openai' };
    expect(
      await scene.refused(OTHER, providerKeys.ToggleAPIKey, { params, body: { isActive: false } }),
    ).toMatchObject({ code: 'not_found' });
    expect(await scene.refused(INSTANCE, providerKeys.DeleteProviderAPIKey, { params })).toMatchObject({
      code: 'failed_precondition',
    });
    await scene.call(INSTANCE, providerKeys.ToggleAPIKey, { params, body: { isActive: false } });
    await scene.restart();
    for (const tenant of [INSTANCE, OTHER])
      expect(scene.account(tenant, 'openai')).toMatchObject({ keys: [], needsKey: true });
  });

  test('of one tenant are nothing to another', async () => {
    const { id = '', providerConfigId = '' } = await addKey(OTHER, { providerConfigId: 'groq', apiKey: KEY });
    const params = { keyId: id };
    for (const [endpoint, body] of [
      [providerKeys.ToggleAPIKey, { isActive: false }],
      [providerKeys.UpdateAPIKeyWeight, { weight: 2 }],
      [providerKeys.DeleteProviderAPIKey, {}],
    ] as const)
      expect(await scene.refused(INSTANCE, endpoint, { params, body })).toMatchObject({ code: 'not_found' });
    const body = { providerConfigId, apiKey: SECOND };
    expect(await scene.refused(INSTANCE, providerKeys.AddProviderAPIKey, { body })).toMatchObject({
      code: 'provider_not_found',
    });
    expect(
      await scene.refused(INSTANCE, providerKeys.ListProviderAPIKeys, { params: { providerConfigId } }),
    ).toMatchObject({ code: 'provider_not_found' });
    expect(scene.secrets(OTHER, 'groq')).toEqual([KEY]);
  });

  const BAD: ReadonlyArray<readonly [body: object, expected: object]> = [
    [{ apiKey: KEY }, { field: 'providerConfigId' }],
    [{ providerConfigId: 'groq' }, { field: 'apiKey' }],
    [{ providerConfigId: 'groq', apiKey: '****1111' }, { field: 'apiKey' }],
    [{ providerConfigId: 'groq', apiKey: KEY, weight: -1 }, { field: 'weight' }],
    [{ providerConfigId: 'groq', apiKey: KEY, keyName: 'default' }, { code: 'already_exists' }],
    [{ providerConfigId: 'groq', apiKey: KEY, keyName: 'a\nb' }, { field: 'keyName' }],
  ];
  test.each(BAD)('%j is refused', async (body, expected) => {
    await configure(OTHER, 'groq', { apiKey: KEY });
    const before = scene.dump();
    expect(await scene.refused(OTHER, providerKeys.AddProviderAPIKey, { body })).toMatchObject(expected);
    expect(scene.dump()).toBe(before);
  });

  test('have a weight of at least one', async () => {
    const { id = '' } = await addKey(OTHER, { providerConfigId: 'groq', apiKey: KEY, weight: 0 });
    for (const weight of [0, -1, 1.5, undefined])
      expect(
        await scene.refused(OTHER, providerKeys.UpdateAPIKeyWeight, {
          params: { keyId: id },
          body: { weight },
        }),
      ).toMatchObject({ field: 'weight' });
    expect(scene.account(OTHER, 'groq')?.keys[0]?.weight).toBe(1);
  });
});

test('no row and no file holds a key in the open, and every change is in the audit log', async () => {
  await configure(INSTANCE, 'groq', { apiKey: KEY });
  await addKey(INSTANCE, { providerConfigId: 'groq', apiKey: SECOND });
  await scene.call(INSTANCE, providerCatalog.DeleteProviderConfiguration, {
    params: { providerName: 'groq' },
  });
  for (const secret of [KEY, SECOND, ENV_KEY]) expect(scene.dump() + scene.file).not.toContain(secret);
  const actions = scene.app.db.raw.query('SELECT action FROM audit_log').all();
  expect(actions).toEqual([
    { action: 'provider.create' },
    { action: 'provider_key.create' },
    { action: 'provider.delete' },
  ]);
});

test('what was set up is there after a restart', async () => {
  await configure(OTHER, 'groq', { apiKey: KEY, enabledModels: ['m'] });
  await scene.restart();
  expect(scene.account(OTHER, 'groq')).toMatchObject({ models: ['m'], keys: [{ secret: KEY, weight: 1 }] });
});

test('the catalog says what is known, prices among it', async () => {
  const { providers = [] } = await scene.call(OTHER, providerCatalog.ListProviderCatalog);
  const openai = providers.find(({ name }) => name === 'openai');
  const model = openai?.models?.find(({ name }) => name === 'gpt-4o');
  expect(model).toMatchObject({
    maxTokens: '128000',
    inputCostPer1k: 0.0025,
    outputCostPer1k: 0.01,
    status: 'stable',
  });
  expect(openai?.modelFamilies?.find(({ name }) => name === 'GPT-4o')?.maxTokens).toBe('128000');
  expect(new Set(providers.map(({ name }) => name)).size).toBe(providers.length);
  expect(providers.length).toBeGreaterThan(20);
});

test('only those that can be called are listed, when that is asked for', async () => {
  await configure(OTHER, 'groq', { apiKey: KEY });
  const [key] = await keysOf(OTHER, 'groq');
  await scene.call(OTHER, providerKeys.ToggleAPIKey, {
    params: { keyId: key?.id ?? '' },
    body: { isActive: false },
  });
  const names = async (activeOnly: boolean) => {
    const { providers = [] } = await scene.call(OTHER, providerCatalog.ListConfiguredProviders, {
      query: { activeOnly },
    });
    return providers.map(({ catalog }) => catalog?.name);
  };
  expect(await names(false)).toEqual(['groq', 'openai']);
  expect(await names(true)).toEqual(['openai']);
});
