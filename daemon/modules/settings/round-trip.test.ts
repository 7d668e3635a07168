import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { AppError } from '../../../src/errors/app-error.ts';
import { me, SettingsScene } from '../../../test/support/settings-scene.ts';
import { KEY_OF, type SectionName } from './sections.ts';
import type { NewConfig } from './service.ts';
import { toSection } from './wire.ts';

const some = (...values: readonly unknown[]) => fc.constantFrom(...values);
/** Good values, and now and then a bad one. */
const mostly = (good: fc.Arbitrary<unknown>, ...bad: readonly unknown[]) =>
  fc.oneof({ weight: 30, arbitrary: good }, { weight: 1, arbitrary: some(...bad) });
const flag = mostly(fc.boolean(), 'true', 1);
const count = mostly(fc.integer({ min: 1, max: 100 }), 0, -1, 1.5, 2e6, '3');
const duration = mostly(some('1s', '90s', '1h30m', '20h', '1.5h'), '1', '', '40d', 7);
const text = fc.string({ minLength: 1, maxLength: 20 });
const origin = mostly(
  some('*', 'https://a.example', 'HTTP://B.example:81', 'app://x'),
  'a.example',
  'https://a.example/',
  '',
);

const FIELDS: Readonly<Record<SectionName, Readonly<Record<string, fc.Arbitrary<unknown>>>>> = {
  rate_limit: {
    enabled: flag,
    requestsPerMinute: count,
    burst: count,
    keySource: mostly(some('ip', 'api_key', 'user_id'), 'x'),
  },
  load_balancer: {
    enabled: flag,
    strategy: mostly(some('priority', 'weighted'), 'random'),
    weights: fc.dictionary(text, mostly(fc.integer({ min: 1, max: 9 }), -1), { maxKeys: 3 }),
  },
  features: { enableStreaming: flag, enableSse: flag, enableAgents: flag },
  cache: {
    enabled: flag,
    type: some('memory'),
    ttl: duration,
    memoryMaxSize: count,
    redisAddress: mostly(some('', 'h:1', 'rediss://h'), 'redis://u:p@h', '/'),
    redisDb: mostly(fc.integer({ min: 0, max: 20 }), -1),
  },
  telemetry: {
    enabled: flag,
    samplingRate: mostly(fc.double({ min: 0, max: 1, noNaN: true }), 2, -0.1),
    collectorUrl: mostly(some('', 'https://o.example/v1'), 'o.example'),
    serviceName: mostly(text, ''),
  },
  cors: {
    enabled: flag,
    allowedOrigins: fc.array(origin, { maxLength: 3 }),
    allowedHeaders: fc.array(mostly(some('*', 'x-a'), 'x b'), { maxLength: 2 }),
    maxAge: duration,
  },
};

const config = fc.record(
  Object.fromEntries(
    Object.entries(FIELDS).map(([section, fields]) => [
      KEY_OF[section as SectionName],
      fc.record(fields, { requiredKeys: [] }),
    ]),
  ),
  { requiredKeys: [] },
);

test('what a check finds valid is taken and read back as it was given, as JSON and as YAML; the rest changes nothing', () => {
  const scene = new SettingsScene();
  let [taken, refused] = [0, 0];
  const property = fc.property(config, some(...Object.keys(FIELDS)), (given, name) => {
    const section = name as SectionName;
    const { state } = scene.checks.checkMap('org_me', given);
    const before = scene.service.get('org_me');
    if (state === 'invalid') {
      refused++;
      expect(() => scene.service.replace(me, given as NewConfig)).toThrow(AppError);
      expect(scene.service.get('org_me')).toBe(before);
      return;
    }
    taken++;
    const after = scene.service.replace(me, given as NewConfig).config;
    for (const [key, fields] of Object.entries(given))
      expect(after[key as keyof typeof after] as unknown).toEqual({
        ...scene.snapshot.defaults[key as keyof typeof after],
        ...(fields as object),
      });
    const { yamlContent = '', config: shown } = toSection(scene.service.section('org_me', section));
    expect(toSection(scene.service.replaceSection(me, section, { yamlContent })).config).toEqual(shown ?? {});
  });
  fc.assert(property, { numRuns: 100 });
  expect(taken).toBeGreaterThan(20);
  expect(refused).toBeGreaterThan(20);
}, 60_000);
