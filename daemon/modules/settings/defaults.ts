import { CONFIG_SECTIONS } from '../../../src/api/config/runtime.ts';
import { invalid } from '../../../src/errors/app-error.ts';
import { durationText } from '../../../src/kit/duration.ts';
import type { Config } from '../../config/config.ts';
import { SETTINGS, type SettingKey } from '../../config/settings.ts';
import { checkSection } from './check.ts';
import { type FullConfig, KEY_OF, SCHEMAS, type SectionName, snake } from './sections.ts';

/** Where the defaults of a section stand in svc.yaml. */
const GROUP_OF: Readonly<Record<SectionName, string>> = {
  rate_limit: 'gateway.rate_limit',
  load_balancer: 'gateway.load_balancer',
  features: 'features',
  cache: 'cache',
  telemetry: 'telemetry',
  cors: 'server.cors',
};
/** Fields that stand elsewhere in it than under their own name. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'cache.ttl': 'memory.ttl',
  'cache.memoryMaxSize': 'memory.max_size',
  'cache.redisAddress': 'redis.address',
  'cache.redisDb': 'redis.db',
  'cache.redisPoolSize': 'redis.pool_size',
};

/**
 * The configuration of a tenant that has changed nothing: that of the instance. Errors: invalid_argument naming the
 * setting.
 */
export function readDefaults(config: Config): FullConfig {
  const defaults = Object.fromEntries(
    CONFIG_SECTIONS.map((section) => [KEY_OF[section], sectionDefaults(config, section)]),
  ) as unknown as FullConfig;
  for (const section of CONFIG_SECTIONS) {
    const [error] = checkSection(section, defaults[KEY_OF[section]], defaults, '').errors;
    if (error) throw invalid({ field: settingOf(section, error.field), description: error.message });
  }
  return defaults;
}

function sectionDefaults(config: Config, section: SectionName): Readonly<Record<string, unknown>> {
  const names = Object.keys(SCHEMAS[section].properties);
  return Object.fromEntries(names.map((name) => [name, settingText(config, settingOf(section, name))]));
}

/** The value of a setting as the API shows it: durations are text there. */
function settingText(config: Config, key: SettingKey): unknown {
  const value = config.get(key);
  return SETTINGS[key].type === 'duration' ? durationText(value as number) : value;
}

/** The setting that has the default of a field, or of an entry in it. */
function settingOf(section: SectionName, field: string): SettingKey {
  const [name = ''] = field.split('.');
  return `${GROUP_OF[section]}.${ELSEWHERE[`${section}.${name}`] ?? snake(name)}` as SettingKey;
}
