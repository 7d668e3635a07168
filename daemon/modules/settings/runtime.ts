import type { CorsPolicy } from '../../http/cors.ts';
import type { Trust } from '../../outbound/outbound.ts';

/** How many requests a caller may make (behaviour: Rate limiting). */
export interface RateLimitValue {
  readonly enabled: boolean;
  /** At least 1. */
  readonly requestsPerMinute: number;
  /** Size of the bucket; at least 1. */
  readonly burst: number;
  readonly keySource: 'correlation' | 'api_key' | 'user_id' | 'ip';
}

/** How calls are spread over endpoints (behaviour: Load balancing). */
export interface LoadBalancerValue {
  readonly enabled: boolean;
  readonly strategy: 'priority' | 'round_robin' | 'weighted' | 'least_connections';
  /** What a sticky choice is made by. */
  readonly keySource: 'correlation' | 'api_key' | 'user_id' | 'ip';
  /** Weights by provider; from the instance's configuration. */
  readonly weights: Readonly<Record<string, number>>;
}

/** What the gateway does for a tenant. */
export interface FeaturesValue {
  readonly enableStreaming: boolean;
  readonly enableEmbeddings: boolean;
  readonly enableFunctionCalling: boolean;
  readonly enableResponseCaching: boolean;
  readonly enableSse: boolean;
  readonly enableRequestLogging: boolean;
  readonly enableHealthChecks: boolean;
  readonly enableAgents: boolean;
}

/** How answers are kept (behaviour: Caching). */
export interface CacheValue {
  readonly enabled: boolean;
  readonly type: 'memory' | 'redis';
  /** Milliseconds; at least 1000. */
  readonly ttlMs: number;
  /** Entries; at least 1. */
  readonly memoryMaxSize: number;
  /** `host:port` or `rediss://host:port`, never with credentials; empty when there is none. */
  readonly redisAddress: string;
  readonly redisDb: number;
  readonly redisPoolSize: number;
  /**
   * How far `redisAddress` is trusted: `operator` when address and database are those of the instance's configuration.
   * Only then may it be private, and only then is the password of the configuration sent there.
   */
  readonly redisTrust: Trust;
}

/** What is traced, and where to. */
export interface TelemetryValue {
  readonly enabled: boolean;
  /** 0 to 1. */
  readonly samplingRate: number;
  readonly granularity: 'minimal' | 'standard' | 'detailed';
  readonly traceProviderCalls: boolean;
  readonly traceStreamChunks: boolean;
  readonly traceFallbacks: boolean;
  /** Empty when there is none. */
  readonly collectorUrl: string;
  readonly serviceName: string;
  /** How far `collectorUrl` is trusted: `operator` when it is that of the instance's configuration. */
  readonly collectorTrust: Trust;
}

/** Which origins may call from a browser (behaviour: CORS). */
export type CorsValue = CorsPolicy;

/** The configuration of a tenant as it is in force: checked, complete and immutable. */
export interface RuntimeConfigValue {
  /** Grows with every change of the tenant's configuration; 1 when it was never changed. */
  readonly version: number;
  readonly rateLimit: RateLimitValue;
  readonly loadBalancer: LoadBalancerValue;
  readonly features: FeaturesValue;
  readonly cache: CacheValue;
  readonly telemetry: TelemetryValue;
  readonly cors: CorsValue;
}

/** What the rest of the daemon reads of the runtime configuration. In memory; nothing here touches the database. */
export interface RuntimeSettings {
  /** The configuration of a tenant. The same object until it changes; tenants without changes share one. */
  of(tenant: string): RuntimeConfigValue;
  /** Calls back after a change of a tenant's configuration was written. Answers how to stop that. */
  onChange(listener: (tenant: string) => void): () => void;
}
