import { beforeEach, describe, expect, test } from 'bun:test';
import { me, refusal, SettingsScene } from '../../../test/support/settings-scene.ts';
import { toSection } from './wire.ts';

let scene: SettingsScene;
beforeEach(() => {
  scene = new SettingsScene();
});

describe('the configuration in force', () => {
  test('is that of the instance until something changes, and one object for all tenants', () => {
    scene = new SettingsScene({ 'gateway.rate_limit.requests_per_minute': 30, 'cache.memory.ttl': '90s' });
    expect(scene.snapshot.of('org_me').rateLimit).toMatchObject({ enabled: false, requestsPerMinute: 30 });
    expect(scene.snapshot.of('org_me').cache.ttlMs).toBe(90_000);
    expect(scene.snapshot.of('org_me')).toBe(scene.snapshot.of('org_other'));
    expect(scene.service.get('org_me')).toMatchObject({ version: 1 });
  });

  test('cannot be changed by those who read it', () => {
    const { rateLimit, cors, loadBalancer } = scene.snapshot.of('org_me');
    for (const part of [
      scene.snapshot.of('org_me'),
      rateLimit,
      cors,
      cors.allowedOrigins,
      loadBalancer.weights,
    ])
      expect(Object.isFrozen(part)).toBe(true);
    expect('constructor' in loadBalancer.weights).toBe(false);
  });

  test('changes for the tenant alone, and is another object only then', () => {
    const before = scene.snapshot.of('org_other');
    const heard: string[] = [];
    const stop = scene.snapshot.onChange((tenant) => heard.push(tenant));
    scene.service.replaceSection(me, 'rate_limit', { config: { enabled: true, burst: 7 } });
    const mine = scene.snapshot.of('org_me');
    expect(mine.rateLimit).toMatchObject({ enabled: true, burst: 7, requestsPerMinute: 500 });
    expect(scene.snapshot.of('org_me')).toBe(mine);
    expect(scene.snapshot.of('org_other')).toBe(before);
    stop();
    scene.service.reset(me, 'rate_limit');
    expect(heard).toEqual(['org_me']);
  });

  test('is there again after a restart', () => {
    scene.service.replaceSection(me, 'features', { config: { enableStreaming: false } });
    const before = scene.service.get('org_me');
    scene.restart();
    expect(scene.service.get('org_me')).toEqual({ ...before, checkedAt: expect.any(Number) });
    expect(scene.snapshot.of('org_me').features.enableStreaming).toBe(false);
  });

  test('follows the instance in what a tenant has not given', () => {
    scene.service.replaceSection(me, 'rate_limit', { config: { enabled: true } });
    scene.restart({ 'gateway.rate_limit.burst': 9 });
    expect(scene.snapshot.of('org_me').rateLimit).toMatchObject({ enabled: true, burst: 9 });
  });

  test('falls back to the defaults where what is stored is not valid any more, and says so', () => {
    scene.service.replaceSection(me, 'cache', { config: { ttl: '1h' } });
    scene.app.db.raw.run(`UPDATE runtime_sections SET given = '{"ttl":"soon"}'`);
    scene.restart();
    expect(scene.snapshot.of('org_me').cache.ttlMs).toBe(600_000);
    expect(scene.checks.status('org_me', undefined)).toMatchObject({ state: 'invalid', failed: ['cache'] });
    expect(scene.checks.status('org_me', 'cors').state).toBe('valid');
  });

  test('a listener that fails does not undo a change, nor keep others from hearing', () => {
    const heard: string[] = [];
    scene.snapshot.onChange(() => {
      throw new Error('no');
    });
    scene.snapshot.onChange((tenant) => heard.push(tenant));
    expect(scene.service.reset(me, 'cors').version).toBe(2);
    expect(heard).toEqual(['org_me']);
  });
});

describe('trust', () => {
  test('an address is the operator’s only as long as the tenant leaves it as it is', () => {
    scene = new SettingsScene({
      'cache.redis.address': '10.0.0.5:6379',
      'telemetry.collector_url': 'http://10.0.0.6:4318',
    });
    expect(scene.snapshot.of('org_me')).toMatchObject({
      cache: { redisTrust: 'operator' },
      telemetry: { collectorTrust: 'operator' },
    });
    scene.service.replaceSection(me, 'telemetry', { config: { collectorUrl: 'http://10.0.0.7:4318' } });
    scene.service.replaceSection(me, 'cache', { config: { redisDb: 3 } });
    expect(scene.snapshot.of('org_me')).toMatchObject({
      cache: { redisTrust: 'tenant' },
      telemetry: { collectorTrust: 'tenant' },
    });
  });
});

describe('a change', () => {
  test('counts the section and the whole, writes who did it, and is a check', () => {
    expect(scene.service.replaceSection(me, 'cors', { config: { enabled: true } }).version).toBe(2);
    expect(scene.service.replaceSection(me, 'cors', { config: {} }).version).toBe(3);
    expect(scene.service.section('org_me', 'cache').version).toBe(1);
    const whole = scene.service.replace(me, { cache: { ttl: '1m' }, features: {} });
    expect(whole.version).toBe(4);
    expect(scene.audited()).toEqual([
      { action: 'config.update', target: 'cors' },
      { action: 'config.update', target: 'cors' },
      { action: 'config.update', target: 'features,cache' },
    ]);
    expect(scene.checks.history('org_me', {})[0]?.sections).toEqual(['features', 'cache']);
  });

  test('of the whole replaces the sections that are named and leaves the others', () => {
    scene.service.replaceSection(me, 'cors', { config: { maxAge: '5m' } });
    scene.service.replaceSection(me, 'rate_limit', { config: { burst: 3, enabled: true } });
    const { config } = scene.service.replace(me, { rateLimit: { burst: 4 } });
    expect(config.cors.maxAge).toBe('5m');
    expect(config.rateLimit).toMatchObject({ burst: 4, enabled: false });
  });

  test('that names nothing changes nothing', () => {
    expect(scene.service.replace(me, {}).version).toBe(1);
    expect(scene.audited()).toEqual([]);
  });

  test('made from an older version is refused and changes nothing', () => {
    scene.service.replace(me, { rateLimit: { burst: 4 }, version: 1 });
    const stale = refusal(() => scene.service.replace(me, { rateLimit: { burst: 5 }, version: 1 }));
    expect(stale).toMatchObject({ code: 'stale_version', http: 409 });
    expect(
      refusal(() => scene.service.replaceSection(me, 'rate_limit', { config: {}, version: 7 })).http,
    ).toBe(409);
    expect(scene.service.get('org_me').config.rateLimit.burst).toBe(4);
    expect(scene.service.replaceSection(me, 'rate_limit', { config: { burst: 6 }, version: 2 }).version).toBe(
      3,
    );
  });

  test('is all or nothing when one of its sections is wrong', () => {
    const error = refusal(() => scene.service.replace(me, { rateLimit: { burst: 4 }, cache: { ttl: '0s' } }));
    expect(error.violations[0]?.field).toBe('config.cache.ttl');
    expect(scene.service.get('org_me').version).toBe(1);
    expect(scene.store.sections('org_me')).toEqual([]);
    expect(scene.audited()).toEqual([]);
  });

  test('that fails while it is written leaves nothing', () => {
    scene.app.db.raw.run(
      "CREATE TRIGGER refuse BEFORE INSERT ON audit_log BEGIN SELECT raise(ABORT, 'no'); END",
    );
    expect(() => scene.service.replaceSection(me, 'cors', { config: { enabled: true } })).toThrow();
    expect(scene.store.config('org_me')).toBeUndefined();
    expect(scene.snapshot.of('org_me').cors.enabled).toBe(false);
  });

  test('takes YAML with the names of svc.yaml, as flat as the API or nested', () => {
    const yamlContent = 'enabled: true\nmemory:\n  ttl: 2h\n  max_size: 5\nredis_pool_size: 3\n';
    const { config } = scene.service.replaceSection(me, 'cache', { yamlContent, config: {} });
    expect(config).toMatchObject({ enabled: true, ttl: '2h', memoryMaxSize: 5, redisPoolSize: 3 });
  });

  test('given twice must say the same twice', () => {
    const same = { config: { burst: 3 }, yamlContent: 'burst: 3' };
    expect(scene.service.replaceSection(me, 'rate_limit', same).config).toMatchObject({ burst: 3 });
    const error = refusal(() =>
      scene.service.replaceSection(me, 'rate_limit', { ...same, yamlContent: 'burst: 4' }),
    );
    expect(error.violations).toEqual([
      { field: 'yamlContent', description: 'says something else of burst than config does' },
    ]);
  });

  test('needs one of the two', () => {
    expect(refusal(() => scene.service.replaceSection(me, 'cors', {})).violations[0]?.field).toBe('config');
    expect(refusal(() => scene.service.replace(me, undefined)).violations[0]?.field).toBe('config');
  });

  test('its YAML can be sent back as it came', () => {
    scene.service.replaceSection(me, 'load_balancer', {
      config: { strategy: 'weighted', weights: { a_b: 1, '1e3': 2 } },
    });
    scene.service.replaceSection(me, 'cors', { config: { allowedOrigins: ['*', 'https://a.example'] } });
    for (const name of ['load_balancer', 'cors', 'telemetry'] as const) {
      const { yamlContent = '', config } = toSection(scene.service.section('org_me', name));
      expect(toSection(scene.service.replaceSection(me, name, { yamlContent })).config).toEqual(config ?? {});
    }
  });
});
