import type { App, Module } from '../../app.ts';
import { remembered } from '../../http/gate/remembered.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { Receivers } from '../../otlp/destination.ts';
import { CATALOG, type ProviderDirectory } from '../providers/index.ts';
import type { RuntimeSettings } from '../settings/index.ts';
import { createCache } from './cache/index.ts';
import { createGuardrails } from './guardrails/index.ts';
import { createInstanceRoom } from './instance/index.ts';
import { modelRouteRoutes } from './model-routes/routes.ts';
import { ModelRouteService } from './model-routes/service.ts';
import { ModelRouteStore } from './model-routes/store.ts';
import { OwnCalls } from './own-calls.ts';
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
import { type Converse, converseThrough } from './surfaces/chat/converse.ts';
import { chatRoutes } from './surfaces/chat/routes.ts';
import { ChatSurface } from './surfaces/chat/surface.ts';
import { type Embed, embedThrough } from './surfaces/embeddings/embed.ts';
import { EmbeddingsSurface } from './surfaces/embeddings/surface.ts';
import { messagesRoutes } from './surfaces/messages/routes.ts';
import { MessagesSurface } from './surfaces/messages/surface.ts';
import { modelRoutes } from './surfaces/models/routes.ts';
import { otherSurfaceRoutes } from './surfaces/other-routes.ts';
import { createResponses } from './surfaces/responses/index.ts';
import { createTelemetry } from './telemetry/index.ts';

export type { Converse, ConverseWish, Reply } from './surfaces/chat/converse.ts';
export type { Embed, EmbeddingWish } from './surfaces/embeddings/embed.ts';
export type { ChatMessage, ChatTool, ChatToolCall } from './wire/chat.ts';

/** What the gateway takes from its surroundings, besides the app. */
export interface GatewayOptions {
  readonly directory: ProviderDirectory;
  readonly settings: RuntimeSettings;
  /** The organization that the instance belongs to. */
  readonly instanceTenant: string;
  readonly metrics?: Metrics;
  /** Where tenants want their figures. */
  readonly receivers?: Receivers;
}

/** The gateway, as other modules of the daemon call it. */
export interface GatewayModule extends Module {
  readonly embed: Embed;
  readonly converse: Converse;
  /** Tokens that `provider/model` takes, prompt and answer together; undefined when that is not known. */
  contextWindow(model: string): number | undefined;
}

/** The gateway: every surface over one pipeline. */
export function createGatewayModule(
  app: App,
  { directory, settings, instanceTenant, metrics, receivers }: GatewayOptions,
): GatewayModule {
  const names = (tenant: string) => [
    ...directory.of(tenant).map(({ name }) => name),
    ...CATALOG.map(({ name }) => name),
  ];
  const routes = new ModelRouteService(app, new ModelRouteStore(app.db), names);
  const router = new Router(directory, new ModelLists(app), routes, (tenant) => {
    const { loadBalancer } = settings.of(tenant);
    return loadBalancer.enabled ? loadBalancer : undefined;
  });
  const circuits = new Circuits(app.clock);
  const attempts = new Attempts(app.outbound, circuits);
  const spending = createSpending(app, settings, metrics);
  const telemetry = createTelemetry(app, { settings, circuits, receivers, metrics });
  const booked: Stages = {
    ...NO_STAGES,
    ...spending.stages,
    observers: [...telemetry.observers, noteUse(directory)],
  };
  const defaults = remembered(() => ({
    retries: app.config.get('gateway.retries'),
    timeoutMs: app.config.get('gateway.timeout'),
  }));
  const unlimited = { ...booked, limits: NO_STAGES.limits };
  const calls = new OwnCalls(new Pipeline(unlimited, router, attempts, app.clock, defaults), app.clock);
  const guardrails = createGuardrails(app, calls);
  const cache = createCache(app, settings, calls, ({ caller: { tenant }, request: { model } }) => [
    guardrails.policyOf(tenant),
    String(routes.find(tenant, model)?.updatedAt ?? ''),
  ]);
  const stages: Stages = { ...booked, cache: cache.stage, guardrails: guardrails.stage };
  const allow = (call: ModelCall) => checkFeatures(settings.of(call.caller.tenant).features, call);
  const pipeline = new Pipeline(stages, router, attempts, app.clock, defaults, allow);
  const chat = new ChatSurface(pipeline);
  const responses = createResponses(app, pipeline);
  return {
    name: 'gateway',
    embed: embedThrough(new EmbeddingsSurface(pipeline)),
    converse: converseThrough(chat),
    contextWindow: (model) => spending.contextWindow(model),
    routes: [
      ...chatRoutes(chat),
      ...messagesRoutes(new MessagesSurface(pipeline), router),
      ...otherSurfaceRoutes(app, pipeline),
      ...responses.routes,
      ...modelRoutes(router),
      ...modelRouteRoutes(routes),
      ...createInstanceRoom(app, instanceTenant).routes,
      ...spending.routes,
      ...cache.routes,
      ...guardrails.routes,
    ],
    async start() {
      await spending.start();
      telemetry.start();
      cache.start();
      responses.start();
    },
    async stop() {
      await responses.stop();
      cache.stop();
      await spending.stop();
      await telemetry.stop();
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
