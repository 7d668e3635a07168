import { endpoint, type Group } from '../endpoint.ts';
import { int32, model, oneOf, struct, t, timestamp } from '../schema.ts';

/** How many requests a caller may make. */
export const RateLimitConfig = model('RateLimitConfig', {
  enabled: t.Boolean(),
  requestsPerMinute: int32(),
  burst: int32(),
  keySource: oneOf('correlation', 'api_key', 'user_id', 'ip'),
});

/** How calls are spread over providers. */
export const LoadBalancerConfig = model('LoadBalancerConfig', {
  enabled: t.Boolean(),
  strategy: oneOf('priority', 'round_robin', 'weighted', 'least_connections'),
  keySource: oneOf('correlation', 'api_key', 'user_id', 'ip'),
  weights: t.Record(t.String(), int32(), { description: 'Weights by provider, for the strategy weighted.' }),
});

/** What the gateway does. */
export const FeaturesConfig = model('FeaturesConfig', {
  enableStreaming: t.Boolean(),
  enableEmbeddings: t.Boolean(),
  enableFunctionCalling: t.Boolean(),
  enableResponseCaching: t.Boolean(),
  enableSse: t.Boolean(),
  enableRequestLogging: t.Boolean(),
  enableHealthChecks: t.Boolean(),
  enableAgents: t.Boolean(),
});

/** How answers are kept. */
export const CacheConfig = model('CacheConfig', {
  enabled: t.Boolean(),
  type: oneOf('memory', 'redis'),
  ttl: t.String({ description: 'A duration such as 10m.' }),
  memoryMaxSize: int32(),
  redisAddress: t.String(),
  redisDb: int32(),
  redisPoolSize: int32(),
});

/** What is traced, and where to. */
export const TelemetryConfig = model('TelemetryConfig', {
  enabled: t.Boolean(),
  samplingRate: t.Number({ minimum: 0, maximum: 1 }),
  granularity: oneOf('minimal', 'standard', 'detailed'),
  traceProviderCalls: t.Boolean(),
  traceStreamChunks: t.Boolean(),
  traceFallbacks: t.Boolean(),
  collectorUrl: t.String(),
  serviceName: t.String(),
});

/** Which origins may call from a browser. */
export const CORSConfig = model('CORSConfig', {
  enabled: t.Boolean(),
  allowedOrigins: t.Array(t.String()),
  allowedMethods: t.Array(t.String()),
  allowedHeaders: t.Array(t.String()),
  exposedHeaders: t.Array(t.String()),
  allowCredentials: t.Boolean(),
  maxAge: t.String({ description: 'A duration such as 10m.' }),
});

/** The configuration that can change while the service runs. */
export const RuntimeConfig = model('RuntimeConfig', {
  rateLimit: RateLimitConfig,
  loadBalancer: LoadBalancerConfig,
  features: FeaturesConfig,
  cache: CacheConfig,
  telemetry: TelemetryConfig,
  cors: CORSConfig,
  updatedAt: timestamp(),
  version: int32(),
});

/** One section of the configuration, as data and as YAML. */
export const ConfigSection = model('ConfigSection', {
  name: t.String(),
  config: struct(),
  yamlContent: t.String(),
  updatedAt: timestamp(),
  version: int32(),
  given: t.Array(t.String(), {
    description: 'The fields that were given; the others follow the configuration of the instance.',
  }),
});

/** The sections of the runtime configuration. */
export const CONFIG_SECTIONS = [
  'rate_limit',
  'load_balancer',
  'features',
  'cache',
  'telemetry',
  'cors',
] as const;

/** The largest configuration that is looked at, in bytes: reading YAML takes the time of everybody. */
export const CONFIG_BODY_LIMIT = 256 * 1024;

const sectionName = t.Object({
  section: t.String({ minLength: 1, description: `One of ${CONFIG_SECTIONS.join(', ')}.` }),
});

const here = { spec: 'config', tag: 'Runtime configuration' } as const;

/** The configuration that can change while the service runs. */
export const runtimeConfig = {
  GetRuntimeConfig: endpoint({
    ...here,
    id: 'GetRuntimeConfig',
    method: 'GET',
    path: '/api/v1/config/runtime',
    summary: 'Get the whole configuration',
    response: RuntimeConfig,
    access: 'viewer',
  }),
  UpdateRuntimeConfig: endpoint({
    ...here,
    id: 'UpdateRuntimeConfig',
    method: 'PUT',
    path: '/api/v1/config/runtime',
    summary: 'Replace the whole configuration',
    body: model('UpdateRuntimeConfigRequest', { config: RuntimeConfig }),
    bodyLimit: CONFIG_BODY_LIMIT,
    response: RuntimeConfig,
    access: 'admin',
  }),
  GetRuntimeConfigSection: endpoint({
    ...here,
    id: 'GetRuntimeConfigSection',
    method: 'GET',
    path: '/api/v1/config/runtime/{section}',
    summary: 'Get a section',
    response: ConfigSection,
    params: sectionName,
    access: 'viewer',
  }),
  UpdateRuntimeConfigSection: endpoint({
    ...here,
    id: 'UpdateRuntimeConfigSection',
    method: 'PUT',
    path: '/api/v1/config/runtime/{section}',
    summary: 'Replace a section',
    body: model('ConfigServiceUpdateRuntimeConfigSectionBody', {
      config: struct(),
      yamlContent: t.String(),
      version: int32({
        description: 'The version that this was made from; 409 when the section has another by now.',
      }),
    }),
    response: ConfigSection,
    params: sectionName,
    bodyLimit: CONFIG_BODY_LIMIT,
    access: 'admin',
  }),
  ResetRuntimeConfigSection: endpoint({
    ...here,
    id: 'ResetRuntimeConfigSection',
    method: 'POST',
    path: '/api/v1/config/runtime/{section}/reset',
    summary: 'Put a section back to its defaults',
    body: model('ConfigServiceResetRuntimeConfigSectionBody', {}),
    response: ConfigSection,
    params: sectionName,
    bodyLimit: CONFIG_BODY_LIMIT,
    access: 'admin',
  }),
} satisfies Group;
