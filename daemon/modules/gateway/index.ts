import type { App, Module } from '../../app.ts';
import { remembered } from '../../http/gate/remembered.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { CATALOG, type ProviderDirectory } from '../providers/index.ts';
import type { RuntimeSettings } from '../settings/index.ts';
import { createInstanceRoom } from './instance/index.ts';
import { modelRouteRoutes } from './model-routes/routes.ts';
import { ModelRouteService } from './model-routes/service.ts';
import { ModelRouteStore } from './model-routes/store.ts';
import type { ModelCall } from './pipeline/call.ts';
import { checkFeatures } from './pipeline/features.ts';
import { NO_STAGES } from './pipeline/no-stages.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import type { RequestRecord } from './pipeline/record.ts';
import type { Observer, Stages } from './pipeline/stages.ts';
import { Attempts } from './routing/attempts.ts';
import { Circuits } from './routing/circuits.ts';
import { ModelLists } from './routing/model-lists.ts';
import { Router } from './routing/router.ts';
import { createSpending } from './spending.ts';
import { chatRoutes } from './surfaces/chat/routes.ts';
import { ChatSurface } from './surfaces/chat/surface.ts';
import { messagesRoutes } from './surfaces/messages/routes.ts';
import { MessagesSurface } from './surfaces/messages/surface.ts';
import { modelRoutes } from './surfaces/models/routes.ts';
import { otherSurfaceRoutes } from './surfaces/other-routes.ts';
import { createResponses } from './surfaces/responses/index.ts';

/** What the gateway takes from its surroundings, besides the app. */
export interface GatewayOptions {
  readonly directory: ProviderDirectory;
  readonly settings: RuntimeSettings;
  /** The organization that the instance belongs to. */
  readonly instanceTenant: string;
  readonly metrics?: Metrics;
}

/** The gateway: every surface over one pipeline. */
export function createGatewayModule(
  app: App,
  { directory, settings, instanceTenant, metrics }: GatewayOptions,
): Module {
  const names = (tenant: string) => [
    ...directory.of(tenant).map(({ name }) => name),
    ...CATALOG.map(({ name }) => name),
  ];
  const routes = new ModelRouteService(app, new ModelRouteStore(app.db), names);
  const router = new Router(directory, new ModelLists(app), routes, (tenant) => {
    const { enabled, ...balancing } = settings.of(tenant).loadBalancer;
    return enabled ? balancing : undefined;
  });
  const attempts = new Attempts(app.outbound, new Circuits(app.clock));
  const spending = createSpending(app, settings, metrics);
  const stages: Stages = {
    ...NO_STAGES,
    ...spending.stages,
    observers: [countTokens(metrics), noteUse(directory)],
  };
  const defaults = remembered(() => ({
    retries: app.config.get('gateway.retries'),
    timeoutMs: app.config.get('gateway.timeout'),
  }));
  const allow = (call: ModelCall) => checkFeatures(settings.of(call.caller.tenant).features, call);
  const pipeline = new Pipeline(stages, router, attempts, app.clock, defaults, allow);
  const responses = createResponses(app, pipeline);
  return {
    name: 'gateway',
    routes: [
      ...chatRoutes(new ChatSurface(pipeline)),
      ...messagesRoutes(new MessagesSurface(pipeline), router),
      ...otherSurfaceRoutes(app, pipeline),
      ...responses.routes,
      ...modelRoutes(router),
      ...modelRouteRoutes(routes),
      ...createInstanceRoom(app, instanceTenant).routes,
      ...spending.routes,
    ],
    async start() {
      await spending.start();
      responses.start();
    },
    async stop() {
      await responses.stop();
      await spending.stop();
    },
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
