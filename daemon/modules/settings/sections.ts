import type {
  CacheConfig,
  CORSConfig,
  FeaturesConfig,
  LoadBalancerConfig,
  RateLimitConfig,
  TelemetryConfig,
} from '../../../src/api/config/runtime.ts';
import { CONFIG_SECTIONS } from '../../../src/api/config/runtime.ts';
import { fields, oneOf, t, type Value } from '../../../src/api/schema.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { nearest } from '../../../src/kit/nearest.ts';

/** The name of a section, as it stands in paths and YAML. */
export type SectionName = (typeof CONFIG_SECTIONS)[number];

/** The configuration as it travels, every field of every section there. Keys are those of the JSON. */
export interface FullConfig {
  readonly rateLimit: Required<Value<typeof RateLimitConfig>>;
  readonly loadBalancer: Required<Value<typeof LoadBalancerConfig>>;
  readonly features: Required<Value<typeof FeaturesConfig>>;
  readonly cache: Required<Value<typeof CacheConfig>>;
  readonly telemetry: Required<Value<typeof TelemetryConfig>>;
  readonly cors: Required<Value<typeof CORSConfig>>;
}

/** The key of a section in JSON. */
export type SectionKey = keyof FullConfig;

/** Fields of a section by name. What is absent has the instance's default. */
export type Given = Readonly<Record<string, unknown>>;

/** The key that a section has in JSON. */
export const KEY_OF: Readonly<Record<SectionName, SectionKey>> = {
  rate_limit: 'rateLimit',
  load_balancer: 'loadBalancer',
  features: 'features',
  cache: 'cache',
  telemetry: 'telemetry',
  cors: 'cors',
};

const ORDER = { additionalProperties: false } as const;
const KEY_SOURCE = oneOf('correlation', 'api_key', 'user_id', 'ip');
const NAME = t.String({ minLength: 1, maxLength: 128 });
const tokens = (description: string) => t.Array(NAME, { maxItems: 100, description });
const flag = (description: string) => t.Boolean({ description });
const count = (description: string, maximum: number, minimum = 1) =>
  t.Integer({ description, minimum, maximum });
const duration = (description: string) =>
  t.String({ description, pattern: '^(\\d+(\\.\\d+)?(ms|s|m|h|d))+$', maxLength: 40 });

const strict = (properties: Parameters<typeof fields>[0]) => Object.assign(fields(properties), ORDER);

/** What each section may hold: the schemas that are checked and published. Stricter than the contract's types. */
export const SCHEMAS = {
  rate_limit: strict({
    enabled: flag('Whether requests are counted'),
    requestsPerMinute: count('How fast a bucket fills', 1_000_000),
    burst: count('Size of a bucket', 1_000_000),
    keySource: KEY_SOURCE,
  }),
  load_balancer: strict({
    enabled: flag('Whether calls are spread'),
    strategy: oneOf('priority', 'round_robin', 'weighted', 'least_connections'),
    keySource: KEY_SOURCE,
    weights: t.Record(
      t.String({ minLength: 1, maxLength: 128 }),
      count('Share of a provider', 1_000_000, 0),
      {
        description: 'Weights by provider, for the strategy weighted',
        maxProperties: 100,
      },
    ),
  }),
  features: strict({
    enableStreaming: flag('Answers in pieces'),
    enableEmbeddings: flag('Embeddings'),
    enableFunctionCalling: flag('Tools'),
    enableResponseCaching: flag('Keeping answers, where the section cache is enabled too'),
    enableSse: flag('Server-sent events'),
    enableRequestLogging: flag('The log of requests'),
    enableHealthChecks: flag('Watching how providers answer'),
    enableAgents: flag('Agents'),
  }),
  cache: strict({
    enabled: flag('Whether answers are kept'),
    type: oneOf('memory', 'redis'),
    ttl: duration('How long an answer is good, 1s to 30d'),
    memoryMaxSize: count('Most answers kept', 1_000_000),
    redisAddress: t.String({
      description: 'host:port or rediss://host:port, without a password',
      maxLength: 300,
    }),
    redisDb: count('Number of the database', 1023, 0),
    redisPoolSize: count('Most connections', 100),
  }),
  telemetry: strict({
    enabled: flag('Whether traces are sent'),
    samplingRate: t.Number({ description: 'Share of the requests that are traced', minimum: 0, maximum: 1 }),
    granularity: oneOf('minimal', 'standard', 'detailed'),
    traceProviderCalls: flag('A span for each call of a provider'),
    traceStreamChunks: flag('An event for each piece of a stream'),
    traceFallbacks: flag('An event for each fallback'),
    collectorUrl: t.String({ description: 'Base address of an OTLP/HTTP receiver', maxLength: 2000 }),
    serviceName: NAME,
  }),
  cors: strict({
    enabled: flag('Whether pages of other origins may call'),
    allowedOrigins: t.Array(t.String({ minLength: 1, maxLength: 300 }), {
      maxItems: 100,
      description: 'Whole origins such as https://app.example.com, or *',
    }),
    allowedMethods: tokens('Methods, or *'),
    allowedHeaders: tokens('Headers, or *'),
    exposedHeaders: tokens('Headers of answers that pages may read'),
    allowCredentials: flag('Whether cookies may come along'),
    maxAge: duration('How long a browser may remember an answer, at most 1d'),
  }),
} as const satisfies Record<SectionName, unknown>;

/** The section of a name. Errors: not_found naming the nearest. */
export function sectionOf(name: string): SectionName {
  const found = CONFIG_SECTIONS.find((section) => section === name);
  if (!found) throw fail('section_not_found', { section: name, near: nearest(name, CONFIG_SECTIONS) });
  return found;
}

/** A name in camelCase. */
export function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A name in snake_case. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
