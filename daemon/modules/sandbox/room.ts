import type { App } from '../../app.ts';
import type { Route } from '../../http/route.ts';
import type { CommandService } from './command/service.ts';
import type { SandboxDriver } from './drivers/driver.ts';
import type { SandboxEvents } from './history/events.ts';
import type { LifecycleService } from './lifecycle/service.ts';

/** What the rooms of this module share. */
export interface RoomContext {
  readonly app: App;
  readonly driver: SandboxDriver;
  readonly lifecycle: LifecycleService;
  readonly commands: CommandService;
  readonly events: SandboxEvents;
}

/** One noun of this module: its operations, and what it does at start and stop. */
export interface Room {
  readonly routes: readonly Route[];
  /** Called when the sandboxes that run have been taken up; requests come after it. */
  start?(): Promise<void> | void;
  stop?(): Promise<void> | void;
}
