import { join } from 'node:path';
import { migrations } from '../migrations/index.ts';
import { operations } from '../src/api/index.ts';
import { HOUR_MS, systemClock } from '../src/kit/time.ts';
import type { App, Module } from './app.ts';
import { Audit } from './audit/audit.ts';
import { Bus } from './bus/bus.ts';
import { Config } from './config/config.ts';
import { prepareDataDir } from './data-dir.ts';
import { openDatabase } from './db/open.ts';
import { instanceName, SettingStore } from './db/settings.ts';
import { assetResponse } from './http/assets.ts';
import { Cors } from './http/cors.ts';
import { docsResponse } from './http/docs.ts';
import { createGate } from './http/gate.ts';
import { Idempotency } from './http/idempotency.ts';
import { listen, mount } from './http/mount.ts';
import type { Route } from './http/route.ts';
import { Jobs } from './jobs/queue.ts';
import { lockDataDir } from './lock.ts';
import { createLog } from './log/log.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createAgentsModule } from './modules/agents/index.ts';
import { createAuthModule } from './modules/auth/index.ts';
import { createFunctionsModule } from './modules/functions/index.ts';
import { createGatewayModule } from './modules/gateway/index.ts';
import { createMcpModule } from './modules/mcp/index.ts';
import { createMemoryModule } from './modules/memory/index.ts';
import { createProvidersModule } from './modules/providers/index.ts';
import { createSandboxModule, selectDriver } from './modules/sandbox/index.ts';
import { createSettingsModule } from './modules/settings/index.ts';
import { createSystemModule } from './modules/system/index.ts';
import { createOutbound } from './outbound/outbound.ts';
import { loadInstanceKey, Secrets } from './secrets/secrets.ts';

/** How a daemon is started. `flags` are setting keys with the values of the command line. */
export interface ServeOptions {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly configFile?: string;
}

/** A daemon that runs. */
export interface RunningDaemon {
  readonly url: string;
  /** Takes no more requests, lets open ones finish until the deadline, and ends. Sandboxes go on running. */
  stop(): Promise<void>;
}

/** The parts of an instance that is composed and does not listen yet. */
interface Instance {
  readonly app: App;
  readonly modules: readonly Module[];
  readonly edge: ReturnType<typeof mount>;
  /** Tells the parts that speak of the port which one it has become. */
  listensOn(port: number): void;
}

/** Composes the instance and starts it. Errors are AppErrors with one clear line each; nothing is left behind then. */
export async function serve({ flags, configFile }: ServeOptions): Promise<RunningDaemon> {
  const config = new Config({ flags, env: process.env, file: configFile });
  prepareDataDir(config.dataDir);
  const unlock = lockDataDir(config.dataDir);
  const instance = await compose(createApp(config));
  const close = async () => {
    await instance.app.jobs.stop();
    for (const module of instance.modules.toReversed()) await module.stop?.();
    instance.app.db.close();
    unlock();
  };
  try {
    return await start(instance, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function compose(app: App): Promise<Instance> {
  const { config, db, clock, log, jobs } = app;
  const metrics = createMetrics();
  let port = config.get('server.port');
  const auth = createAuthModule(app, { port: () => port });
  const settings = createSettingsModule(app);
  const providers = createProvidersModule(app, { instanceTenant: auth.instanceTenant });
  const driver = await selectDriver({ ...app, instance: instanceName(new SettingStore(db), clock.now()) });
  const sandbox = createSandboxModule(app, driver, auth.standing, () => port);
  metrics.sandboxes(() => new Map(Object.entries(sandbox.countByState())));
  for (const figure of sandbox.figures) metrics.figure(figure);
  const gateway = createGatewayModule(app, {
    directory: providers.directory,
    settings: settings.runtime,
    instanceTenant: auth.instanceTenant,
    metrics,
    receivers: sandbox.receivers,
  });
  const mcp = createMcpModule(app, {
    own: sandbox.own,
    instanceTenant: auth.instanceTenant,
    port: () => port,
    routes: () => routes,
    extraTools: () => agents.inbound,
  });
  const memory = createMemoryModule(app, gateway.embed);
  const functions = createFunctionsModule(app, sandbox.own);
  const agents = createAgentsModule(app, {
    ...gateway,
    embeddingModel: () => app.config.get('features.memory.embedding_models')[0],
    isOn: (tenant) => settings.runtime.of(tenant).features.enableAgents,
    sandboxes: sandbox.own,
    functions,
    mcp: mcp.tools,
    documents: memory.documents,
  });
  const modules = [
    auth,
    settings,
    sandbox,
    providers,
    gateway,
    memory,
    mcp,
    functions,
    agents,
    createSystemModule(app, metrics, auth.instanceTenant),
  ];
  const idempotency = new Idempotency(db, clock, app.secrets);
  jobs.every('idempotency.prune', HOUR_MS, () => idempotency.prune());
  const routes: readonly Route[] = modules.flatMap((module) => module.routes);
  const gate = createGate(config, auth.authenticator, { port: () => port });
  const page = (request: Request) => assetResponse(request) ?? docsResponse(request);
  const cors = new Cors(settings.cors);
  const edge = mount({
    operations,
    routes,
    gate,
    idempotency,
    metrics,
    log,
    page,
    cors,
    sites: sandbox.sites,
  });
  const listensOn = (bound: number) => {
    port = bound;
  };
  return { app, modules, edge, listensOn };
}

async function start(
  { app, modules, edge, listensOn }: Instance,
  close: () => Promise<void>,
): Promise<RunningDaemon> {
  const { config, log, jobs } = app;
  for (const module of modules) await module.start?.();
  jobs.start();
  const host = config.get('server.host');
  const listening = await listen(edge, host, config.get('server.port'));
  listensOn(listening.port);
  const url = `http://${hostForUrl(host)}:${listening.port}`;
  log.info('ready', { url, dataDir: config.dataDir });
  return {
    url,
    async stop() {
      log.info('stopping');
      await listening.stop(config.get('server.stop_timeout'));
      await close();
    },
  };
}

function createApp(config: Config): App {
  const clock = systemClock;
  const log = createLog({ level: config.get('log.level'), format: config.get('log.format') });
  const db = openDatabase(join(config.dataDir, 'svc.db'), migrations);
  config.loadDatabaseValues(new SettingStore(db).all());
  return {
    config,
    db,
    clock,
    log,
    bus: new Bus(log),
    jobs: new Jobs(db, clock, log),
    secrets: new Secrets(loadInstanceKey(config.dataDir, process.env)),
    audit: new Audit(db, clock),
    outbound: createOutbound(config, log),
  };
}

function hostForUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
