import { beforeEach, describe, expect, test } from 'bun:test';
import { refusal, SettingsScene } from '../../../test/support/settings-scene.ts';
import { schemaOf } from './schemas.ts';
import { KEPT_CHECKS } from './store.ts';

let scene: SettingsScene;
beforeEach(() => {
  scene = new SettingsScene();
});

describe('a check', () => {
  const yaml = (text: string) => scene.checks.checkYaml('org_me', text);

  test('finds sections by name and where svc.yaml has them, and changes nothing', () => {
    const { state, sections } = yaml(
      'gateway:\n  rate_limit: {burst: 3}\nserver:\n  cors: {enabled: false}\ncache: {memory: {ttl: 1h}}\nloadBalancer: {}',
    );
    expect([state, sections]).toEqual(['valid', ['rate_limit', 'cors', 'cache', 'load_balancer']]);
    expect(scene.service.get('org_me').version).toBe(1);
  });

  test('says what is wrong, where, and what should be looked at', () => {
    const result = yaml('rate_limit: {burst: 0}\ncahce: {}\ncache: {ttl: 2d}\ngateway: {rate_limit: {}}');
    expect(result.errors.map(({ field, code }) => [field, code])).toEqual([
      ['gateway.rate_limit', 'given_twice'],
      ['rate_limit.burst', 'out_of_range'],
    ]);
    expect(result.warnings.map(({ field, code }) => [field, code])).toEqual([
      ['cahce', 'unknown_section'],
      ['cache.ttl', 'long_ttl'],
    ]);
    expect(result.warnings[0]?.message).toContain('did you mean cache?');
    expect([result.state, result.failed]).toEqual(['invalid', ['rate_limit']]);
  });

  test('of what cannot be read at all ends in an error', () => {
    expect(yaml('a: [').errors[0]).toMatchObject({ field: 'yamlConfig', code: 'yaml_syntax' });
    expect(yaml('a: [').state).toBe('error');
    expect(yaml('- 1').errors[0]).toMatchObject({ field: 'yamlConfig', code: 'wrong_type' });
    expect(yaml('').state).toBe('valid');
  });

  test('of what is nested beyond reason is refused, or says so', () => {
    const deep = JSON.parse(`{"cors":${'['.repeat(60_000)}${']'.repeat(60_000)}}`);
    expect(refusal(() => scene.checks.checkMap('org_me', deep)).violations[0]?.field).toBe('config');
    expect(yaml(`cors: ${'['.repeat(60_000)}`).state).toBe('error');
    expect(yaml('cors: &a {maxAge: [*a]}').errors[0]?.field).toBe('cors.maxAge');
  });

  test('of an answer of the API finds nothing wrong', () => {
    const { config } = scene.service.get('org_me');
    expect(scene.checks.checkMap('org_me', { ...config, version: 3, updatedAt: 'x' }).state).toBe('valid');
  });

  test('is remembered for its tenant, newest first, with a hash that only the content decides', () => {
    yaml('rate_limit: {burst: 3, enabled: true}');
    scene.checks.checkMap('org_me', { rateLimit: { enabled: true, burst: 3 } });
    yaml('cors: {maxAge: soon}');
    const [last, second, first] = scene.checks.history('org_me', {});
    expect(second?.configHash).toBe(first?.configHash ?? '');
    expect(last).toMatchObject({ state: 'invalid', errorCount: 1, sections: ['cors'] });
    expect(scene.checks.history('org_me', { section: 'cors' })).toHaveLength(1);
    expect(scene.checks.history('org_me', { limit: 2 })).toHaveLength(2);
    expect(scene.checks.history('org_other', {})).toEqual([]);
    expect(refusal(() => scene.checks.history('org_me', { section: 'cor' })).http).toBe(404);
  });

  test('is forgotten when there are too many, those of others excepted', () => {
    scene.checks.checkYaml('org_other', 'cors: {}');
    for (let i = 0; i < KEPT_CHECKS + 5; i++) yaml(`rate_limit: {burst: ${i + 1}}`);
    expect(scene.store.checks('org_me')).toHaveLength(KEPT_CHECKS);
    expect(scene.store.checks('org_other')).toHaveLength(1);
  });
});

describe('the schemas', () => {
  test('describe every field with the default of this instance', () => {
    scene = new SettingsScene({ 'cache.memory.ttl': '90s' });
    const { properties } = schemaOf('cache', scene.snapshot.defaults) as {
      properties: Record<string, { default: unknown }>;
    };
    expect(Object.keys(properties)).toEqual(Object.keys(scene.snapshot.defaults.cache));
    expect(properties.ttl?.default).toBe('90s');
    expect(schemaOf('runtime', scene.snapshot.defaults)).toMatchObject({
      properties: { cors: { type: 'object' } },
    });
  });

  test('are 404 under another name, naming the nearest', () => {
    expect(refusal(() => schemaOf('runtim', scene.snapshot.defaults)).hint).toBe('Did you mean runtime?');
  });
});
