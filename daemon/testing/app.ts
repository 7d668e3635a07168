import { randomBytes } from 'node:crypto';
import { migrations } from '../../migrations/index.ts';
import type { Clock } from '../../src/kit/time.ts';
import type { App } from '../app.ts';
import { Audit } from '../audit/audit.ts';
import { Bus } from '../bus/bus.ts';
import { Config } from '../config/config.ts';
import { openDatabase } from '../db/open.ts';
import { Jobs } from '../jobs/queue.ts';
import { silentLog } from '../log/log.ts';
import { Secrets } from '../secrets/secrets.ts';

/** What modules are handed, for tests: a database in memory, these settings, no log, and no way out. */
export function openTestApp(clock: Clock, flags: Readonly<Record<string, string | number>>): App {
  const db = openDatabase(':memory:', migrations);
  const refuse = () => Promise.reject(new Error('nothing leaves a test'));
  return {
    config: new Config({ flags }),
    db,
    bus: new Bus(silentLog),
    clock,
    log: silentLog,
    jobs: new Jobs(db, clock, silentLog),
    secrets: new Secrets(randomBytes(32)),
    audit: new Audit(db, clock),
    outbound: { fetch: refuse, connect: refuse },
  };
}
