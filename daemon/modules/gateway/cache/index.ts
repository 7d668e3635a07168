import { join } from 'node:path';
import type { App } from '../../../app.ts';
import { openTelemetry } from '../../../db/telemetry.ts';
import { remembered } from '../../../http/gate/remembered.ts';
import type { Route } from '../../../http/route.ts';
import type { RuntimeSettings } from '../../settings/index.ts';
import type { OwnCalls } from '../own-calls.ts';
import type { AnswerCache } from '../pipeline/stages.ts';
import { type CacheParts, RequestCache, type Semantics } from './cache.ts';
import { CACHE_SCHEMA, DiskAnswers } from './disk-store.ts';
import { printOfText, printOfVector } from './likeness.ts';
import { LocalAnswers } from './local.ts';
import { MemoryAnswers } from './memory.ts';
import { cacheRoutes } from './routes.ts';
import { CacheService } from './service.ts';
import { SimilarRequests } from './similar.ts';
import { RedisStores } from './stores.ts';

/** What the cache takes from the app. */
export type CacheApp = Pick<App, 'config' | 'outbound' | 'clock' | 'log' | 'audit'>;

/** The room of kept answers. */
export interface Cache {
  readonly stage: AnswerCache;
  readonly routes: readonly Route[];
  /** Opens the file of earlier answers. */
  start(): void;
  /** Writes what is not written yet. */
  stop(): void;
}

const MB = 1024 * 1024;

/** Makes the cache. `scopeOf` is what of an answer depends on more than its request. */
export function createCache(
  app: CacheApp,
  settings: Pick<RuntimeSettings, 'of'>,
  calls: Pick<OwnCalls, 'embed'>,
  scopeOf: CacheParts['scopeOf'],
): Cache {
  const { config, clock } = app;
  const limits = remembered(() => ({
    memory: config.get('cache.memory.max_mb') * MB,
    disk: config.get('cache.disk.max_mb') * MB,
  }));
  let disk: DiskAnswers | undefined;
  const entries = (tenant: string) => settings.of(tenant).cache.memoryMaxSize;
  const memory = new MemoryAnswers({ entries, bytes: () => limits().memory }, clock);
  const local = new LocalAnswers(memory, () => disk);
  const servers = new RedisStores(app);
  const storeOf = (tenant: string) => {
    const { cache } = settings.of(tenant);
    return (cache.type === 'redis' && servers.of(cache)) || local;
  };
  const similar = new SimilarRequests();
  const semantics = remembered(() => semanticsOf(app, calls));
  const stage = new RequestCache({ settings, clock, storeOf, scopeOf, similar, semantics });
  const service = new CacheService({ settings, stage, storeOf, similar, semantics, audit: app.audit });
  return {
    stage,
    routes: cacheRoutes(service),
    start() {
      if (limits().disk === 0) return;
      const path = join(config.dataDir, 'cache.db');
      try {
        disk = new DiskAnswers(openTelemetry(path, CACHE_SCHEMA), () => limits().disk, clock);
        disk.flush();
      } catch (error) {
        app.log.warn('answers are kept in memory alone', { path, error: String(error) });
      }
    },
    stop() {
      disk?.close();
      disk = undefined;
      servers.close();
    },
  };
}

function semanticsOf({ config }: CacheApp, calls: Pick<OwnCalls, 'embed'>): Semantics {
  const model = config.get('cache.semantic.model');
  return {
    isOn: config.get('cache.semantic.enabled'),
    threshold: config.get('cache.semantic.threshold'),
    async print(call, text) {
      if (model === '') return printOfText(text);
      // Without a vector the request is a miss; the call is in the request log with what was wrong.
      return calls.embed(call, model, text).then(printOfVector, () => undefined);
    },
  };
}
