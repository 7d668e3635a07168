import { beforeEach, describe, expect, test } from 'bun:test';
import { me, refusal, SettingsScene } from '../../../test/support/settings-scene.ts';
import { sectionOf } from './sections.ts';

let scene: SettingsScene;
beforeEach(() => {
  scene = new SettingsScene();
});

describe('bad values are refused, naming the field', () => {
  test.each([
    ['rate_limit', { burst: 0 }, 'burst', '1 to 1000000'],
    ['rate_limit', { requestsPerMinute: 1.5 }, 'requestsPerMinute', 'a whole number'],
    ['rate_limit', { requestsPerMinute: '5' }, 'requestsPerMinute', 'a whole number'],
    ['rate_limit', { keySource: 'moon' }, 'keySource', 'correlation, api_key, user_id, ip'],
    ['rate_limit', { brust: 1 }, 'brust', 'did you mean burst?'],
    ['rate_limit', { burst: 1, constructor: 1 }, 'constructor', 'no such field'],
    ['load_balancer', { strategy: 'weighted', weights: { a: 0 } }, 'weights', 'one above 0'],
    ['load_balancer', { weights: { a: -1 } }, 'weights.a', '0 to 1000000'],
    ['features', { enableSse: 'yes' }, 'enableSse', 'true or false'],
    ['cache', { ttl: '10' }, 'ttl', 'duration such as'],
    ['cache', { ttl: '31d' }, 'ttl', '1s to 30d'],
    ['cache', { memory: { ttl: '31d' } }, 'ttl', '1s to 30d'],
    ['cache', { memory: { size: 1 } }, 'memory.size', 'no such field'],
    ['cache', { memory: { constructor: 1 } }, 'memory.constructor', 'no such field'],
    ['cache', { constructor: { keys: 1 } }, 'constructor', 'no such field'],
    ['cache', { ttl: '1m', memory: { ttl: '2m' } }, 'memory.ttl', 'second time'],
    ['cache', { redisPoolSize: 1, redis_pool_size: 1 }, 'redis_pool_size', 'second time'],
    ['cache', { enabled: true, type: 'redis' }, 'redisAddress', 'is needed'],
    ['cache', { redisAddress: 'redis://user:hunter2@h:1' }, 'redisAddress', 'no credentials'],
    ['cache', { redisAddress: 'http://h/' }, 'redisAddress', 'host:port'],
    ['telemetry', { samplingRate: 1.01 }, 'samplingRate', '0 to 1'],
    ['telemetry', { collectorUrl: 'ftp://h' }, 'collectorUrl', 'http or https'],
    ['telemetry', { collectorUrl: 'https://u:p@h' }, 'collectorUrl', 'no credentials'],
    ['telemetry', { serviceName: '' }, 'serviceName', '1 to 128 characters'],
    ['cors', { allowedOrigins: ['https://a.example/'] }, 'allowedOrigins.0', 'whole origin'],
    ['cors', { allowedOrigins: ['*', 'a.example'] }, 'allowedOrigins.1', 'whole origin'],
    ['cors', { allowedOrigins: ['https://*.a.example'] }, 'allowedOrigins.0', 'whole origin'],
    ['cors', { allowedOrigins: 'https://a.example' }, 'allowedOrigins', 'a list'],
    ['cors', { allowedHeaders: ['x y'] }, 'allowedHeaders.0', 'a name or *'],
    ['cors', { maxAge: '25h' }, 'maxAge', '0s to 1d'],
  ] as const)('%s %j', (section, config, field, words) => {
    const error = refusal(() => scene.service.replaceSection(me, section, { config }));
    expect(error).toMatchObject({ code: 'invalid_argument', http: 400 });
    const found = error.violations.find((one) => one.field === `config.${field}`);
    expect(found?.description).toContain(words);
    expect(error.message).not.toContain('hunter2');
    expect(scene.service.get('org_me').version).toBe(1);
  });

  test.each(['[', '- 1', 'text', '&a [*a]'])('as YAML: %s', (yamlContent) => {
    const error = refusal(() => scene.service.replaceSection(me, 'cors', { yamlContent }));
    expect(error.violations[0]?.field).toBe('yamlContent');
  });

  test('a section that does not exist is 404 naming the nearest', () => {
    const error = refusal(() => sectionOf('ratelimit'));
    expect([error.http, error.hint]).toEqual([404, 'Did you mean rate_limit?']);
    expect(refusal(() => sectionOf('constructor')).http).toBe(404);
  });

  test('in the configuration of the instance they keep it from starting, naming the setting', () => {
    for (const [flag, value] of [
      ['server.cors.allowed_origins', 'a.example'],
      ['cache.redis.address', 'redis://u:p@h:1'],
      ['gateway.load_balancer.weights', '{"a": -1}'],
    ] as const)
      expect(refusal(() => new SettingsScene({ [flag]: value })).violations[0]?.field).toBe(flag);
  });
});
