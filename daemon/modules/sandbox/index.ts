import { join } from 'node:path';
import { asAppError } from '../../../src/errors/app-error.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kit/time.ts';
import type { App, Module } from '../../app.ts';
import type { HostedSite } from '../../http/hosted.ts';
import type { Figure } from '../../metrics/metrics.ts';
import type { Receivers } from '../../otlp/destination.ts';
import { createAutomationRoom } from './automation/index.ts';
import { createCodeRoom } from './code/index.ts';
import { CommandLogs } from './command/log.ts';
import { commandRoutes } from './command/routes.ts';
import { CommandService } from './command/service.ts';
import { ExecutionStore } from './command/store.ts';
import { Terminals } from './command/terminal/terminals.ts';
import type { SandboxDriver } from './drivers/driver.ts';
import { createFilesRoom } from './files/index.ts';
import { SandboxEvents } from './history/events.ts';
import { historyRoutes } from './history/routes.ts';
import { Archiving } from './lifecycle/archiving.ts';
import { DiskLimits } from './lifecycle/disk-limits.ts';
import { Expiry } from './lifecycle/expiry.ts';
import { reconcile } from './lifecycle/reconcile.ts';
import { Resizing } from './lifecycle/resizing.ts';
import { lifecycleRoutes } from './lifecycle/routes.ts';
import { LifecycleService } from './lifecycle/service.ts';
import { SandboxStore } from './lifecycle/store.ts';
import { createLifecycleWebhookRoom } from './lifecycle-webhooks/index.ts';
import { createMetricsRoom } from './metrics/index.ts';
import { StatsService } from './metrics/service.ts';
import { createNetworkRoom } from './network/index.ts';
import { createObjectStoresRoom } from './object-stores/index.ts';
import { createOtlpRoom } from './otlp/index.ts';
import { OtlpSettingsService } from './otlp/settings.ts';
import { ownSandboxes, type WorkSandboxes } from './own-sandboxes.ts';
import { createPortsRoom } from './ports/index.ts';
import type { Room, RoomContext } from './room.ts';
import { createSnapshotsRoom } from './snapshots/index.ts';
import { createSshRoom, type People } from './ssh/index.ts';
import { templateRoutes } from './templates/routes.ts';
import { createVolumesRoom } from './volumes/index.ts';

export { typeStripper } from './code/type-stripper.ts';
export type { Execution, Exit, Finding, OutputChunk, Probe } from './drivers/driver.ts';
export { selectDriver } from './drivers/select.ts';
export { badGitUrl, isBranch } from './lifecycle/git.ts';
export { objectStoreFinding } from './object-stores/tools.ts';
export type { CommandEnd, OwnCommands } from './own-commands.ts';
export type { FileWhere, OwnFiles } from './own-files.ts';
export type { OwnSandboxes, WorkSandboxes } from './own-sandboxes.ts';

/** Milliseconds until a backend that does not answer is asked again. */
const RETRY_MS = 5_000;

/** The latest executions and events that are kept of each sandbox. */
const KEPT_EXECUTIONS = 1_000;
const KEPT_EVENTS = 5_000;

/** How long a sandbox that is gone, and what ran in one, can still be looked at. */
const REMEMBERED_MS = 30 * DAY_MS;

/** What the module shows besides its operations. */
export interface SandboxFace {
  readonly countByState: () => Record<string, number>;
  readonly figures: readonly Figure[];
  /** What it serves at hosts of its own. */
  readonly sites: readonly HostedSite[];
  /** For modules that run something of a tenant's by themselves. */
  readonly own: WorkSandboxes;
  /** Where tenants want their figures. */
  readonly receivers: Receivers;
}

/** Sandboxes: made, used, watched and ended, on one driver. `port` is the one that the instance listens on. */
export function createSandboxModule(
  app: App,
  driver: SandboxDriver,
  people: People,
  port: () => number,
): Module & SandboxFace {
  const store = new SandboxStore(app.db);
  const events = new SandboxEvents(app.db, app.clock, app.bus);
  const lifecycle = new LifecycleService(app, driver, store, events);
  const logs = new CommandLogs(join(app.config.dataDir, 'logs'), app.config.get('sandbox.max_log'));
  const executions = new ExecutionStore(app.db);
  const commands = new CommandService(app, driver, lifecycle, executions, events, logs);
  const terminals = new Terminals(app, lifecycle, commands);
  const stats = new StatsService(app, driver, lifecycle);
  const archiving = new Archiving(lifecycle, driver);
  const resizing = new Resizing(lifecycle, driver, app.config);
  const diskLimits = new DiskLimits(app, lifecycle, driver);
  const expiry = new Expiry(app, lifecycle, archiving, (id) => isBusy(id));
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
  const receivers = new OtlpSettingsService(app);
  const { rooms, filesRoom, portsRoom } = createRooms(people, receivers, {
    app,
    driver,
    lifecycle,
    archiving,
    commands,
    events,
    stats,
    port,
  });
  const isBusy = (id: string) => commands.isBusy(id) || rooms.some((room) => room.isBusy?.(id));
  return {
    name: 'sandbox',
    routes: [
      ...lifecycleRoutes({ app, driver, lifecycle, commands, stats }, archiving, resizing),
      ...commandRoutes(app, driver, lifecycle, commands, terminals),
      ...historyRoutes(app.bus, lifecycle, commands, events),
      ...templateRoutes(),
      ...rooms.flatMap(({ routes }) => routes),
    ],
    figures: rooms.flatMap(({ figures = [] }) => figures),
    sites: rooms.flatMap(({ sites = [] }) => sites),
    receivers,
    own: ownSandboxes({ lifecycle, driver, archiving, commands, filesRoom, ports: portsRoom.ports }),
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
      diskLimits.start();
      for (const room of rooms) await room.start?.();
    },
    async stop() {
      clearTimeout(retry);
      expiry.stop();
      diskLimits.stop();
      for (const room of rooms.toReversed()) await room.stop?.();
      await driver.close();
    },
  };
}

/** The rooms, in the order in which they start. */
function createRooms(people: People, receivers: OtlpSettingsService, context: RoomContext) {
  const metrics = createMetricsRoom(context);
  const filesRoom = createFilesRoom(context);
  const { files } = filesRoom;
  const portsRoom = createPortsRoom(context);
  const ssh = createSshRoom(context, { people, openFiles: (tenant, id) => files.open(tenant, id) });
  const rooms: readonly Room[] = [
    filesRoom,
    createCodeRoom(context),
    ssh,
    metrics,
    createOtlpRoom(context, metrics.sampler, receivers),
    createAutomationRoom(context),
    portsRoom,
    createNetworkRoom(context),
    createSnapshotsRoom(context),
    createVolumesRoom(context),
    createObjectStoresRoom(context),
    createLifecycleWebhookRoom(context),
  ];
  return { rooms, filesRoom, portsRoom };
}
