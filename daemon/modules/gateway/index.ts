import type { App, Module } from '../../app.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { ProviderDirectory } from '../providers/index.ts';
import { NO_STAGES } from './pipeline/no-stages.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import type { RequestRecord } from './pipeline/record.ts';
import type { Observer, Stages } from './pipeline/stages.ts';
import { Attempts } from './routing/attempts.ts';
import { Circuits } from './routing/circuits.ts';
import { ModelLists } from './routing/model-lists.ts';
import { Router } from './routing/router.ts';
import { chatRoutes } from './surfaces/chat/routes.ts';
import { ChatSurface } from './surfaces/chat/surface.ts';
import { modelRoutes } from './surfaces/models/routes.ts';

/** What the gateway takes from its surroundings, besides the app. */
export interface GatewayOptions {
  readonly directory: ProviderDirectory;
  readonly metrics?: Metrics;
}

/** The gateway: every surface over one pipeline. */
export function createGatewayModule(
  app: Pick<App, 'config' | 'outbound' | 'log' | 'clock'>,
  { directory, metrics }: GatewayOptions,
): Module {
  const router = new Router(
    directory,
    new ModelLists(app),
    { find: () => undefined, list: () => [] },
    () => undefined,
  );
  const attempts = new Attempts(app.outbound, new Circuits(app.clock));
  const stages: Stages = { ...NO_STAGES, observers: [countTokens(metrics), noteUse(directory)] };
  const pipeline = new Pipeline(stages, router, attempts, app.clock, () => ({
    retries: app.config.get('gateway.retries'),
    timeoutMs: app.config.get('gateway.timeout'),
  }));
  return {
    name: 'gateway',
    routes: [...chatRoutes(new ChatSurface(pipeline)), ...modelRoutes(router)],
  };
}

function countTokens(metrics: Metrics | undefined): Observer {
  return {
    finished({ model, usage }: RequestRecord) {
      if (!metrics || model === undefined || !usage) return;
      const slash = model.indexOf('/');
      const names = { provider: model.slice(0, slash), model: model.slice(slash + 1) };
      metrics.tokens({ ...names, input: usage.input, output: usage.output });
    },
  };
}

function noteUse(directory: ProviderDirectory): Observer {
  return {
    finished({ tenant, model, cache }: RequestRecord) {
      if (model !== undefined && cache !== 'hit' && cache !== 'semantic')
        directory.used(tenant, model.slice(0, model.indexOf('/')));
    },
  };
}
