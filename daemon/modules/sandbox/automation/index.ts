import { HOUR_MS } from '../../../../src/kit/time.ts';
import { Site } from '../../../http/gate/site.ts';
import type { Room, RoomContext } from '../room.ts';
import type { Sandbox } from '../tables.ts';
import { CronService } from './cron-service.ts';
import { CronStore } from './cron-store.ts';
import { execute } from './execute.ts';
import { Homes } from './home.ts';
import { Invocation } from './invocation.ts';
import { pruneRuns } from './prune.ts';
import { automationRoutes } from './routes.ts';
import { RunStore } from './run-store.ts';
import { Runner, type Stores, type Work } from './runner.ts';
import { Scheduler } from './scheduler.ts';
import { WebhookService } from './webhook-service.ts';
import { WebhookStore } from './webhook-store.ts';

/** Commands that run by the clock, or when an address is called. */
export function createAutomationRoom({ app, lifecycle, archiving, commands }: RoomContext): Room {
  const { db, config } = app;
  const stores: Stores = { crons: new CronStore(db), webhooks: new WebhookStore(db), runs: new RunStore(db) };
  const homes = new Homes(lifecycle, archiving);
  const work: Work = async (definition, run, change) => {
    const { tenant, type, triggerId } = run;
    const own = type === 'cron' ? stores.crons : stores.webhooks;
    const moved = (from: string, { id: sandboxId, sessionId }: Sandbox) => {
      own.update(tenant, triggerId, { sandboxId, sessionId });
      if (from === '') return;
      stores.crons.move(tenant, from, sandboxId, sessionId);
      stores.webhooks.move(tenant, from, sandboxId, sessionId);
    };
    const read = () => own.find(tenant, triggerId) ?? definition;
    const sandboxId = await homes.ready({ read, actor: `${type}:${triggerId}`, moved });
    const started = (executionId: string) => change({ sandboxId, executionId });
    return execute(commands, definition, run, sandboxId, started);
  };
  const runner = new Runner(app, stores, work);
  const scheduler = new Scheduler(app, stores, runner);
  const site = new Site(config);
  const routes = automationRoutes({
    crons: new CronService(app, lifecycle, stores, scheduler),
    webhooks: new WebhookService(app, lifecycle, stores),
    invocation: new Invocation(app, stores, runner),
    runs: stores.runs,
    sandboxId: (tenant, named) => lifecycle.store.find(tenant, named)?.id ?? named,
    baseUrl: (request) => site.baseUrl(request),
  });
  return {
    routes,
    start() {
      app.jobs.every('sandbox.triggers.prune', HOUR_MS / 6, () => pruneRuns(stores.runs, app.clock));
      runner.start();
      scheduler.start();
    },
    stop() {
      scheduler.stop();
      runner.stop();
    },
  };
}
