import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { providerCatalog } from '../../../../src/api/providers/catalog.ts';
import { providerConfig } from '../../../../src/api/providers/config.ts';
import { providerKeys } from '../../../../src/api/providers/keys.ts';
import { INSTANCE, OTHER, Scene } from '../testing/scene.ts';

const KEY = 'sk-own-secret-aaaa1111';
const SECOND = 'sk-own-secret-bbbb2222';

let scene: Scene;
beforeEach(() => {
  scene = new Scene({ GROQ_API_KEY: 'gsk-env-secret-0001', MY_OWN_KEY: 'my-own-secret-0002' });
});
afterEach(() => scene.close());

const save = (tenant: string, yamlContent: string) =>
  scene.call(tenant, providerConfig.SaveConfigYAML, { body: { yamlContent } });
const get = async (tenant: string) =>
  (await scene.call(tenant, providerConfig.GetConfigYAML)).yamlContent ?? '';
const reload = (tenant: string) => scene.call(tenant, providerConfig.ReloadConfig);
const status = (tenant: string) => scene.call(tenant, providerConfig.GetSyncStatus);
const configure = (tenant: string, providerName: string, body: object) =>
  scene.call(tenant, providerCatalog.ConfigureProvider, { params: { providerName }, body });
const names = (tenant: string) => scene.directory.of(tenant).map(({ name }) => name);

describe('the YAML of a tenant', () => {
  test('becomes its providers as a whole', async () => {
    await configure(OTHER, 'mistral', { apiKey: KEY });
    const answer = await save(
      OTHER,
      `providers:
  openai:
    api_key: ${KEY}
    models: [gpt-5]
  lab:
    dialect: anthropic
    base_url: https://lab.example
    keys:
      - {name: a, api_key: ${KEY}, weight: 2}
      - {name: b, api_key: ${SECOND}, active: false}
`,
    );
    expect(answer).toMatchObject({ success: true, message: expect.stringContaining('Removed: mistral') });
    expect(names(OTHER)).toEqual(['openai', 'lab', 'groq', 'local']);
    expect(scene.account(OTHER, 'openai')).toMatchObject({ models: ['gpt-5'], keys: [{ secret: KEY }] });
    expect(scene.account(OTHER, 'lab')).toMatchObject({
      dialect: 'anthropic',
      trust: 'tenant',
      keys: [{ secret: KEY, weight: 2 }],
    });
    expect(scene.dump()).not.toContain(KEY);
  });

  test('may be given back as it was shown, and nothing changes', async () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_.-]{2,12}$/).map((text) => `x${text}`);
    const secret = fc.stringMatching(/^[\x21-\x7e]{1,40}$/).filter((text) => !/^(\*{4}|env:|\{)/.test(text));
    const key = fc.record({ secret, weight: fc.integer({ min: 1, max: 50 }), isActive: fc.boolean() });
    const model = fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/);
    const provider = fc.record({
      keys: fc.array(key, { maxLength: 3 }),
      models: fc.array(model, { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, provider, { maxKeys: 3 }), async (providers) => {
        const yaml = JSON.stringify({
          providers: Object.fromEntries(
            Object.entries(providers).map(([one, { keys, models }]) => [
              one,
              {
                base_url: 'https://x.example/v1',
                models,
                keys: keys.map(({ secret: api_key, weight, isActive: active }, index) => ({
                  name: `k ${index}`,
                  api_key,
                  weight,
                  active,
                })),
              },
            ]),
          ),
        });
        await save(OTHER, yaml);
        const before = [scene.directory.of(OTHER), rows(), await get(OTHER)];
        await save(OTHER, await get(OTHER));
        expect([scene.directory.of(OTHER), rows(), await get(OTHER)]).toEqual(before);
        const wanted = Object.values(providers).map(({ keys }) =>
          keys.filter(({ isActive }) => isActive).map((k) => k.secret),
        );
        const own = scene.directory.of(OTHER).filter(({ baseUrl }) => baseUrl === 'https://x.example/v1');
        expect(own.map(({ keys }) => keys.map((k) => k.secret))).toEqual(wanted);
      }),
      { numRuns: 25 },
    );
  });

  const rows = () => scene.app.db.raw.query('SELECT * FROM provider_keys ORDER BY id').all();

  test('renames a key by its masked form', async () => {
    await configure(OTHER, 'groq', { apiKey: KEY });
    await save(OTHER, 'providers: {groq: {keys: [{name: new name, api_key: "****1111"}]}}');
    expect(scene.secrets(OTHER, 'groq')).toEqual([KEY]);
    expect(await get(OTHER)).toContain('name: new name');
  });

  const WRONG: ReadonlyArray<readonly [text: string, field: string, words: string]> = [
    ['providers:\n  groq: [1,\n', 'yamlContent', 'line 3'],
    [`providers:\n  groq: "${KEY}\n`, 'yamlContent', 'line'],
    ['- 1', 'yamlContent', 'mapping'],
    ['a: &a [x]\nproviders: *a', 'yamlContent', 'alias'],
    ['server: {port: 1}', 'server', 'no such field'],
    ['providers: [1]', 'providers', 'mapping'],
    ['providers:\n  groq:\n    base_url: ftp://x\n', 'providers.groq.base_url', 'line 3'],
    ['providers:\n  groq:\n    api_key: "****1111"\n', 'providers.groq.api_key', 'line 3'],
    [
      'providers:\n  my.lab:\n    base_url: http://x\n    models:\n      - ok\n      - 5\n',
      'providers.my.lab.models.1',
      'line 6',
    ],
    [`providers:\n  groq:\n    apikey: ${KEY}\n`, 'providers.groq.apikey', 'line 3'],
    ['providers:\n  lab:\n    api_key: k\n', 'providers.lab.base_url', 'line 3'],
    ['providers:\n  groq:\n    api_key: env:GROQ_API_KEY\n', 'providers.groq.api_key', 'GROQ_API_KEY'],
    ['providers:\n  groq: {}\n  groq: {}\n', 'yamlContent', 'unique'],
  ];
  test.each(WRONG)('%j is refused at %s', async (text, field, words) => {
    await configure(OTHER, 'mistral', { apiKey: SECOND });
    const before = scene.dump();
    const refused = await scene.refused(OTHER, providerConfig.SaveConfigYAML, {
      body: { yamlContent: text },
    });
    expect(refused).toMatchObject({ code: 'invalid_argument', field });
    expect(refused.message).toContain(words);
    expect(refused.message).not.toContain(KEY);
    expect(scene.dump()).toBe(before);
  });

  test('names no variables over the API, and sends no stored key to another server', async () => {
    for (const tenant of [INSTANCE, OTHER])
      for (const variable of ['GROQ_API_KEY', 'MY_OWN_KEY', 'SVC_INSTANCE_KEY', 'PATH'])
        expect(await saveRefused(tenant, `providers: {groq: {api_key: "env:${variable}"}}`)).toMatchObject({
          field: 'providers.groq.api_key',
        });
    await save(OTHER, `providers: {lab: {base_url: "https://lab.example/v1", api_key: ${KEY}}}`);
    const moved = (url: string, key: string) => `providers: {lab: {base_url: "${url}", api_key: "${key}"}}`;
    for (const key of ['****1111', '****'])
      expect(await saveRefused(OTHER, moved('https://evil.example/v1', key))).toMatchObject({
        field: 'providers.lab.api_key',
      });
    await save(OTHER, moved('https://lab.example/v2', '****1111'));
    expect(scene.account(OTHER, 'lab')?.baseUrl).toBe('https://lab.example/v2');
    await save(OTHER, moved('https://other.example/v1', KEY));
    expect(scene.account(OTHER, 'lab')).toMatchObject({
      baseUrl: 'https://other.example/v1',
      keys: [{ secret: KEY }],
    });
  });

  test('keeps the variables of the file, at their address', async () => {
    scene.file = 'providers: {xai: {api_key: "env:MY_OWN_KEY"}}';
    await reload(INSTANCE);
    await save(INSTANCE, await get(INSTANCE));
    expect(scene.secrets(INSTANCE, 'xai')).toEqual(['my-own-secret-0002']);
    const away = 'providers: {xai: {base_url: "https://evil.example", api_key: "env:MY_OWN_KEY"}}';
    expect(await saveRefused(INSTANCE, away)).toMatchObject({ field: 'providers.xai.api_key' });
    const refused = await scene.refused(INSTANCE, providerCatalog.ConfigureProvider, {
      params: { providerName: 'xai' },
      body: { customBaseUrl: 'https://evil.example' },
    });
    expect(refused).toMatchObject({ field: 'apiKey' });
  });

  const saveRefused = (tenant: string, yamlContent: string) =>
    scene.refused(tenant, providerConfig.SaveConfigYAML, { body: { yamlContent } });
});

describe('the file of the instance', () => {
  test('follows every change, without keys, for the owner alone', async () => {
    expect(await status(INSTANCE)).toEqual({ inSync: true });
    const { syncTriggered, provider } = await configure(INSTANCE, 'mistral', { apiKey: KEY });
    expect(syncTriggered).toBe(true);
    expect(provider?.configuration?.syncedToYamlAt).toBeString();
    expect(scene.file).toContain('api_key: "****1111"');
    expect(statSync(join(scene.dir, 'providers.yaml')).mode & 0o777).toBe(0o600);
    const [key] =
      (
        await scene.call(INSTANCE, providerKeys.ListProviderAPIKeys, {
          params: { providerConfigId: 'mistral' },
        })
      ).keys ?? [];
    await scene.call(INSTANCE, providerKeys.ToggleAPIKey, {
      params: { keyId: key?.id ?? '' },
      body: { isActive: false },
    });
    expect(scene.file).toContain('active: false');
    const { inSync, yamlModTime, lastSyncTime } = await status(INSTANCE);
    expect([inSync, typeof yamlModTime, typeof lastSyncTime]).toEqual([true, 'string', 'string']);
  });

  test('is no business of another tenant', async () => {
    const { syncTriggered } = await configure(OTHER, 'mistral', { apiKey: KEY });
    expect(syncTriggered).toBe(false);
    expect(() => scene.file).toThrow();
    expect((await status(OTHER)).inSync).toBe(true);
    expect(await reload(OTHER)).toMatchObject({ success: true, providersSynced: 1 });
  });

  test('is put into force by a reload, and keys in the open are masked in it', async () => {
    await configure(INSTANCE, 'mistral', { apiKey: KEY });
    scene.file = `# mine\nproviders:\n  anthropic:\n    api_key: ${SECOND}\n  xai:\n    api_key: env:MY_OWN_KEY\n`;
    expect((await status(INSTANCE)).inSync).toBe(false);
    const answer = await reload(INSTANCE);
    expect(answer).toMatchObject({ success: true, providersSynced: 2 });
    expect(answer.message).toContain('Removed: mistral');
    expect(scene.secrets(INSTANCE, 'anthropic')).toEqual([SECOND]);
    expect(scene.secrets(INSTANCE, 'xai')).toEqual(['my-own-secret-0002']);
    expect(scene.file).not.toContain(SECOND);
    expect(scene.file).toContain('env:MY_OWN_KEY');
    expect((await status(INSTANCE)).inSync).toBe(true);
  });

  test('keeps the comments of an edit that has no key in the open', async () => {
    await configure(INSTANCE, 'mistral', { apiKey: KEY });
    const edited = `# mine\n${scene.file.replace('        api_key', '        weight: 7\n        api_key')}`;
    scene.file = edited;
    await reload(INSTANCE);
    expect(scene.account(INSTANCE, 'mistral')?.keys).toMatchObject([{ secret: KEY, weight: 7 }]);
    expect(scene.file).toBe(edited);
    expect((await status(INSTANCE)).inSync).toBe(true);
  });

  test('that was edited is not written over, and what was set up meanwhile survives its reload', async () => {
    await configure(INSTANCE, 'mistral', { apiKey: KEY });
    const edited = `# mine\n${scene.file}`;
    scene.file = edited;
    const { syncTriggered } = await configure(INSTANCE, 'anthropic', { apiKey: SECOND });
    expect(syncTriggered).toBe(false);
    expect(scene.file).toBe(edited);
    expect((await status(INSTANCE)).inSync).toBe(false);
    await reload(INSTANCE);
    expect(names(INSTANCE)).toEqual(['mistral', 'anthropic', 'groq', 'local']);
    expect((await status(INSTANCE)).inSync).toBe(true);
  });

  test('that cannot be read changes nothing', async () => {
    await configure(INSTANCE, 'mistral', { apiKey: KEY });
    scene.file = 'providers:\n  mistral:\n    wieght: 1\n';
    const before = scene.dump();
    const refused = await scene.refused(INSTANCE, providerConfig.ReloadConfig);
    expect(refused).toMatchObject({ field: 'providers.mistral.wieght' });
    expect(refused.message).toContain('line 3');
    expect(scene.dump()).toBe(before);
  });

  test('that was lost, or not written in time, is written again', async () => {
    await configure(INSTANCE, 'mistral', { apiKey: KEY });
    const text = scene.file;
    rmSync(join(scene.dir, 'providers.yaml'));
    expect((await status(INSTANCE)).inSync).toBe(false);
    await reload(INSTANCE);
    expect(scene.file).toBe(text);
    scene.app.db.raw.run('UPDATE provider_keys SET weight = 5');
    await scene.restart();
    expect(scene.file).toContain('weight: 5');
    expect((await status(INSTANCE)).inSync).toBe(true);
  });
});
