import { parseDuration } from '../../../src/kit/duration.ts';
import type { CacheValue, CorsValue, RuntimeConfigValue, TelemetryValue } from './runtime.ts';
import type { FullConfig } from './sections.ts';

/** A checked configuration in the form in which the daemon uses it: durations in milliseconds, names in one case, frozen. */
export function runtimeValue(config: FullConfig, version: number, defaults: FullConfig): RuntimeConfigValue {
  return Object.freeze({
    version,
    rateLimit: Object.freeze({ ...config.rateLimit }),
    // Without a prototype, so that no provider's name finds something that nobody wrote.
    loadBalancer: Object.freeze({
      ...config.loadBalancer,
      weights: Object.freeze(Object.assign(Object.create(null), config.loadBalancer.weights)),
    }),
    features: Object.freeze({ ...config.features }),
    cache: cacheValue(config.cache, defaults.cache),
    telemetry: telemetryValue(config.telemetry, defaults.telemetry),
    cors: corsValue(config.cors),
  });
}

/** What a tenant wrote is trusted as a tenant's; only what the owner of the instance wrote may lead to private addresses. */
function cacheValue(cache: FullConfig['cache'], own: FullConfig['cache']): CacheValue {
  const { ttl, ...rest } = cache;
  const isOwn = cache.redisAddress === own.redisAddress && cache.redisDb === own.redisDb;
  return Object.freeze({
    ...rest,
    ttlMs: parseDuration(ttl) ?? 0,
    redisTrust: isOwn ? ('operator' as const) : ('tenant' as const),
  });
}

function telemetryValue(telemetry: FullConfig['telemetry'], own: FullConfig['telemetry']): TelemetryValue {
  const isOwn = telemetry.collectorUrl === own.collectorUrl;
  return Object.freeze({ ...telemetry, collectorTrust: isOwn ? ('operator' as const) : ('tenant' as const) });
}

function corsValue({ maxAge, ...cors }: FullConfig['cors']): CorsValue {
  return Object.freeze({
    enabled: cors.enabled,
    allowCredentials: cors.allowCredentials,
    maxAgeMs: parseDuration(maxAge) ?? 0,
    allowedOrigins: small(cors.allowedOrigins),
    allowedMethods: Object.freeze(cors.allowedMethods.map((method) => method.toUpperCase())),
    allowedHeaders: small(cors.allowedHeaders),
    exposedHeaders: small(cors.exposedHeaders),
  });
}

function small(texts: readonly string[]): readonly string[] {
  return Object.freeze(texts.map((text) => text.toLowerCase()));
}
