import { join } from 'node:path';
import { asAppError } from '../../../src/errors/app-error.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kit/time.ts';
import type { App, Module } from '../../app.ts';
import { CommandLogs } from './command/log.ts';
import { commandRoutes } from './command/routes.ts';
import { CommandService } from './command/service.ts';
import { ExecutionStore } from './command/store.ts';
import type { SandboxDriver } from './drivers/driver.ts';
import { SandboxEvents } from './history/events.ts';
import { historyRoutes } from './history/routes.ts';
import { Expiry } from './lifecycle/expiry.ts';
import { reconcile } from './lifecycle/reconcile.ts';
import { lifecycleRoutes } from './lifecycle/routes.ts';
import { LifecycleService } from './lifecycle/service.ts';
import { SandboxStore } from './lifecycle/store.ts';
import { metricsRoutes } from './metrics/routes.ts';
import { StatsService } from './metrics/service.ts';
import type { Room, RoomContext } from './room.ts';
import { templateRoutes } from './templates/routes.ts';

export type { Finding, Probe } from './drivers/driver.ts';
export { selectDriver } from './drivers/select.ts';

/** Milliseconds until a backend that does not answer is asked again. */
const RETRY_MS = 5_000;

/** The latest executions and events that are kept of each sandbox. */
const KEPT_EXECUTIONS = 1_000;
const KEPT_EVENTS = 5_000;

/** How long a sandbox that is gone, and what ran in one, can still be looked at. */
const REMEMBERED_MS = 30 * DAY_MS;

/** Sandboxes: made, used, watched and ended, on one driver. */
export function createSandboxModule(
  app: App,
  driver: SandboxDriver,
): Module & { readonly countByState: () => Record<string, number> } {
  const store = new SandboxStore(app.db);
  const events = new SandboxEvents(app.db, app.clock, app.bus);
  const lifecycle = new LifecycleService(app, driver, store, events);
  const logs = new CommandLogs(join(app.config.dataDir, 'logs'), app.config.get('sandbox.max_log'));
  const executions = new ExecutionStore(app.db);
  const commands = new CommandService(app, driver, lifecycle, executions, events, logs);
  const stats = new StatsService(app, driver, lifecycle);
  const expiry = new Expiry(app, lifecycle, (id) => commands.isBusy(id));
  const prune = async () => {
    const before = app.clock.now() - REMEMBERED_MS;
    for (const id of store.prune(before)) await logs.remove(id);
    for (const { sandboxId, id } of executions.prune(before, KEPT_EXECUTIONS))
      await logs.removeOne(sandboxId, id);
    events.prune(before, KEPT_EVENTS);
  };
  let retry: Timer | undefined;
  /** Takes up what runs. A backend that does not answer yet (an engine that starts later) is asked again. */
  const takeUp = async () => {
    try {
      const { adopted } = await reconcile(lifecycle, driver, app.log);
      await commands.adopt(adopted);
    } catch (error) {
      app.log.warn('sandboxes are not available; trying again', {
        driver: driver.name,
        reason: asAppError(error).message,
      });
      retry = setTimeout(() => void takeUp(), RETRY_MS);
    }
  };
  const rooms = createRooms({ app, driver, lifecycle, commands, events });
  return {
    name: 'sandbox',
    routes: [
      ...lifecycleRoutes({ app, driver, lifecycle, commands, stats }),
      ...commandRoutes(app, driver, lifecycle, commands),
      ...metricsRoutes(stats),
      ...historyRoutes(lifecycle, commands, events),
      ...templateRoutes(),
      ...rooms.flatMap(({ routes }) => routes),
    ],
    countByState: () => Object.fromEntries(store.countByState().map(({ state, total }) => [state, total])),
    async start() {
      await takeUp();
      app.bus.on('sandbox.event', ({ type, sandboxId }) => {
        if (type !== 'terminated') return;
        stats.forget(sandboxId);
        void logs
          .remove(sandboxId)
          .catch((error) => app.log.warn('logs could not be removed', { sandbox: sandboxId, error }));
      });
      app.jobs.every('sandbox.prune', HOUR_MS, prune);
      expiry.start();
      for (const room of rooms) await room.start?.();
    },
    async stop() {
      clearTimeout(retry);
      expiry.stop();
      for (const room of rooms.toReversed()) await room.stop?.();
      await driver.close();
    },
  };
}

/** The rooms, in the order in which they start. */
function createRooms(_context: RoomContext): readonly Room[] {
  return [];
}
