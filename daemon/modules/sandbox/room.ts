import type { App } from '../../app.ts';
import type { HostedSite } from '../../http/hosted.ts';
import type { Route } from '../../http/route.ts';
import type { Figure } from '../../metrics/metrics.ts';
import type { CommandService } from './command/service.ts';
import type { SandboxDriver } from './drivers/driver.ts';
import type { SandboxEvents } from './history/events.ts';
import type { Archiving } from './lifecycle/archiving.ts';
import type { LifecycleService } from './lifecycle/service.ts';
import type { StatsService } from './metrics/service.ts';

/** What the rooms of this module share. */
export interface RoomContext {
  readonly app: App;
  readonly driver: SandboxDriver;
  readonly lifecycle: LifecycleService;
  readonly archiving: Archiving;
  readonly commands: CommandService;
  readonly events: SandboxEvents;
  readonly stats: StatsService;
  /** The port that is listened on. */
  readonly port: () => number;
}

/** One noun of this module: its operations, and what it does at start and stop. */
export interface Room {
  readonly routes: readonly Route[];
  /** What it adds to the figures of the instance. */
  readonly figures?: readonly Figure[];
  /** What it serves at hosts of its own. */
  readonly sites?: readonly HostedSite[];
  /** Whether it keeps a sandbox in use. */
  isBusy?(sandboxId: string): boolean;
  /** Called when the sandboxes that run have been taken up; requests come after it. */
  start?(): Promise<void> | void;
  stop?(): Promise<void> | void;
}
