import { parseDuration } from '../../../src/kit/duration.ts';
import { DAY_MS, SECOND_MS } from '../../../src/kit/time.ts';
import type { FullConfig, SectionName } from './sections.ts';

/** Something that a rule has found. */
export interface Finding {
  /** Path of the field, such as `cache.ttl`. */
  readonly field: string;
  readonly message: string;
  /** In snake_case, for programs. */
  readonly code: string;
}

/** What the rules have to say of a section. */
export interface Findings {
  readonly errors: Finding[];
  readonly warnings: Finding[];
}

/** Adds an error or a warning of a field. */
type Report = (kind: keyof Findings, field: string, code: string, message: string) => void;

const LONGEST_TTL_MS = 30 * DAY_MS;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * What a schema cannot say of a section. `section` is complete: what was given over the defaults. An error that stands
 * in a default is one of the instance's configuration.
 */
export function applyRules(name: SectionName, section: FullConfig[keyof FullConfig], report: Report): void {
  RULES[name]?.(section as never, report);
}

const RULES: Partial<Record<SectionName, (section: never, report: Report) => void>> = {
  rate_limit({ enabled, burst, requestsPerMinute }: FullConfig['rateLimit'], report: Report) {
    if (enabled && burst > requestsPerMinute)
      report('warnings', 'burst', 'burst_above_rate', 'a bucket lets more through at once than in a minute');
  },
  load_balancer({ enabled, strategy, weights }: FullConfig['loadBalancer'], report: Report) {
    if (!enabled && strategy !== 'priority')
      report('warnings', 'strategy', 'not_enabled', 'has no effect while enabled is false');
    if (strategy !== 'weighted') return;
    const given = Object.values(weights);
    if (given.length > 0 && given.every((weight) => weight === 0))
      report('errors', 'weights', 'no_weight', 'must have one above 0');
  },
  cache({ enabled, type, ttl, redisAddress }: FullConfig['cache'], report: Report) {
    duration(ttl, 'ttl', { least: SECOND_MS, most: LONGEST_TTL_MS, text: '1s to 30d' }, report);
    if ((parseDuration(ttl) ?? 0) > DAY_MS)
      report('warnings', 'ttl', 'long_ttl', 'answers are kept for more than a day');
    const problem = redisAddress === '' ? undefined : redisProblem(redisAddress);
    if (problem) report('errors', 'redisAddress', 'invalid_address', problem);
    if (enabled && type === 'redis' && redisAddress === '')
      report('errors', 'redisAddress', 'required', 'is needed for type redis');
  },
  telemetry({ enabled, collectorUrl }: FullConfig['telemetry'], report: Report) {
    const problem = collectorUrl === '' ? undefined : collectorProblem(collectorUrl);
    if (problem) report('errors', 'collectorUrl', 'invalid_url', problem);
    if (enabled && collectorUrl === '')
      report(
        'warnings',
        'collectorUrl',
        'no_collector',
        'traces go to the receiver of PUT /v1/settings/otlp, and nowhere while that is off',
      );
  },
  cors(cors: FullConfig['cors'], report: Report) {
    duration(cors.maxAge, 'maxAge', { least: 0, most: DAY_MS, text: '0s to 1d' }, report);
    cors.allowedOrigins.forEach((origin, i) => {
      const problem = originProblem(origin);
      if (problem) report('errors', `allowedOrigins.${i}`, 'invalid_origin', problem);
    });
    for (const field of ['allowedMethods', 'allowedHeaders', 'exposedHeaders'] as const)
      cors[field].forEach((token, i) => {
        if (!TOKEN.test(token)) report('errors', `${field}.${i}`, 'invalid_name', 'must be a name or *');
      });
    if (!cors.enabled) return;
    if (cors.allowedOrigins.length === 0)
      report('warnings', 'allowedOrigins', 'no_origin', 'no page of another origin may call');
    if (cors.allowCredentials && cors.allowedOrigins.includes('*'))
      report(
        'warnings',
        'allowedOrigins',
        'any_origin_with_credentials',
        '* does not reach requests that a cookie signs in: write their origins out',
      );
  },
};

function duration(
  value: string,
  field: string,
  { least, most, text }: { least: number; most: number; text: string },
  report: Report,
): void {
  const ms = parseDuration(value);
  if (ms === undefined || ms < least || ms > most)
    report('errors', field, 'out_of_range', `must be a duration of ${text}`);
}

/** What is wrong with the address of a Redis. Passwords belong into the instance's configuration, where they are secrets. */
function redisProblem(address: string): string | undefined {
  const url = URL.parse(/^rediss?:\/\//.test(address) ? address : `redis://${address}`);
  if (!url || url.hostname === '') return 'must be host:port or rediss://host:port';
  if (url.username !== '' || url.password !== '')
    return 'must hold no credentials: they are cache.redis.password of svc.yaml';
  const isBare = ['', '/'].includes(url.pathname) && url.search === '' && url.hash === '';
  return isBare ? undefined : 'must be host:port or rediss://host:port';
}

function collectorProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'must be an http or https URL';
  return url.username === '' && url.password === '' ? undefined : 'must hold no credentials';
}

/** Origins are compared as wholes, so one with a path or without a scheme would never match. */
function originProblem(origin: string): string | undefined {
  if (origin === '*') return undefined;
  const match = /^[a-z][a-z0-9+.-]*:\/\/([^/?#@\s*]+)$/i.exec(origin);
  if (!match || !URL.parse(origin)) return 'must be a whole origin such as https://app.example.com, or *';
  return undefined;
}
