import type { Clock } from '../src/kit/time.ts';
import type { Audit } from './audit/audit.ts';
import type { Bus } from './bus/bus.ts';
import type { Config } from './config/config.ts';
import type { Database } from './db/open.ts';
import type { Route } from './http/route.ts';
import type { Jobs } from './jobs/queue.ts';
import type { Log } from './log/log.ts';
import type { Outbound } from './outbound/outbound.ts';
import type { Secrets } from './secrets/secrets.ts';

/** Everything that a module is handed. */
export interface App {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly jobs: Jobs;
  readonly secrets: Secrets;
  readonly audit: Audit;
  readonly outbound: Outbound;
}

/** What a module gives back: its routes, and what it does at start and stop. */
export interface Module {
  readonly name: string;
  readonly routes: readonly Route[];
  /** Reconciles with the world and starts background work; requests come after it. */
  start?(): Promise<void>;
  stop?(): Promise<void>;
}
