import { join } from 'node:path';
import { migrations } from '../migrations/index.ts';
import { operations } from '../src/api/index.ts';
import { systemClock } from '../src/kit/time.ts';
import type { App, Module } from './app.ts';
import { Audit } from './audit/audit.ts';
import { Bus } from './bus/bus.ts';
import { Config } from './config/config.ts';
import { prepareDataDir } from './data-dir.ts';
import { openDatabase } from './db/open.ts';
import { instanceName, SettingStore } from './db/settings.ts';
import { assetResponse } from './http/assets.ts';
import { docsResponse } from './http/docs.ts';
import { createGate } from './http/gate.ts';
import { Idempotency } from './http/idempotency.ts';
import { listen, mount } from './http/mount.ts';
import { Jobs } from './jobs/queue.ts';
import { lockDataDir } from './lock.ts';
import { createLog } from './log/log.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createAuthModule } from './modules/auth/index.ts';
import { createGatewayModule } from './modules/gateway/index.ts';
import { createSandboxModule, selectDriver } from './modules/sandbox/index.ts';
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

/** Composes the instance and starts it. Errors are AppErrors with one clear line each. */
export async function serve({ flags, configFile }: ServeOptions): Promise<RunningDaemon> {
  const config = new Config({ flags, env: process.env, file: configFile });
  prepareDataDir(config.dataDir);
  const unlock = lockDataDir(config.dataDir);
  const app = createApp(config);
  const metrics = createMetrics();
  let port = config.get('server.port');
  const auth = createAuthModule(app, { port: () => port });
  const driver = await selectDriver({
    ...app,
    instance: instanceName(new SettingStore(app.db), app.clock.now()),
  });
  const sandbox = createSandboxModule(app, driver);
  metrics.sandboxes(() => new Map(Object.entries(sandbox.countByState())));
  const modules: readonly Module[] = [
    auth,
    sandbox,
    createGatewayModule(app, metrics),
    createSystemModule(app, metrics),
  ];
  for (const module of modules) await module.start?.();
  const idempotency = new Idempotency(app.db, app.clock, app.secrets);
  app.jobs.every('idempotency.prune', 3_600_000, () => idempotency.prune());
  app.jobs.start();
  const routes = modules.flatMap((module) => module.routes);
  const gate = createGate(config, auth.authenticator, { port: () => port });
  const page = (request: Request) => assetResponse(request) ?? docsResponse(request);
  const edge = mount({ operations, routes, gate, idempotency, metrics, log: app.log, page });
  const listening = await listen(edge, config.get('server.host'), port);
  port = listening.port;
  const url = `http://${hostForUrl(config.get('server.host'))}:${listening.port}`;
  app.log.info('ready', { url, driver: driver.name, dataDir: config.dataDir });
  return {
    url,
    async stop() {
      app.log.info('stopping');
      await listening.stop(config.get('server.stop_timeout'));
      await app.jobs.stop();
      for (const module of modules.toReversed()) await module.stop?.();
      app.db.close();
      unlock();
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
