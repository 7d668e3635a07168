import { migrations } from '../../../../../migrations/index.ts';
import { systemClock } from '../../../../../src/kit/time.ts';
import type { App } from '../../../../app.ts';
import { Bus } from '../../../../bus/bus.ts';
import { Config } from '../../../../config/config.ts';
import { openDatabase } from '../../../../db/open.ts';
import { silentLog } from '../../../../log/log.ts';
import { createOutbound } from '../../../../outbound/outbound.ts';
import { Secrets } from '../../../../secrets/secrets.ts';
import { SandboxEvents } from '../../history/events.ts';
import { SandboxStore } from '../../lifecycle/store.ts';
import type { Sandbox } from '../../tables.ts';
import { Dispatcher, type Pace } from '../dispatcher.ts';
import { Outbox } from '../outbox.ts';
import { LifecycleWebhookService } from '../service.ts';
import { LifecycleWebhookStore } from '../store.ts';

/** The tenant of the tests. */
export const TENANT = 'org_a';

/** A pace at which a test need not wait. */
export const QUICK: Pace = { delaysMs: [0, 200, 600], timeoutMs: 5_000 };

/** The same, for receivers that answer too late. */
export const IMPATIENT: Pace = { ...QUICK, timeoutMs: 400 };

/** The parts of the room over a real database and the real way out, without sandboxes that run. */
export function openInstance(path: string, pace: Pace = QUICK) {
  const db = openDatabase(path, migrations);
  const config = new Config({ flags: { 'data.dir': '/nonexistent', 'outbound.allow': ['127.0.0.1'] } });
  const app = {
    db,
    config,
    clock: systemClock,
    log: silentLog,
    secrets: new Secrets(Buffer.alloc(32, 1)),
    outbound: createOutbound(config, silentLog),
  } as unknown as App;
  const sandboxes = new SandboxStore(db);
  const events = new SandboxEvents(db, systemClock, new Bus(silentLog));
  const store = new LifecycleWebhookStore(db);
  const dispatcher = new Dispatcher(app, store, pace);
  const service = new LifecycleWebhookService(app, store, dispatcher);
  events.witness(new Outbox(sandboxes, store, (endpointId) => dispatcher.expect(endpointId)).witness);
  /** Makes a sandbox as far as the rows go, and records one event of it in the same transaction. */
  const record = (id: string, type = 'running', tenant = TENANT) =>
    events.record(tenant, id, { type, message: '' }, () =>
      sandboxes.insert({ ...SANDBOX, id, sessionId: id, tenant }),
    );
  return { db, store, dispatcher, service, events, record };
}

const SANDBOX: Sandbox = {
  id: '',
  tenant: TENANT,
  sessionId: '',
  name: '',
  backend: 'namespace',
  containerId: '',
  state: 'running',
  config: {} as Sandbox['config'],
  labels: {},
  idempotencyKey: null,
  reason: null,
  failure: null,
  createdAt: 0,
  updatedAt: 0,
  expiresAt: null,
  stoppedAt: null,
  deleteAt: null,
  archiveAt: null,
} as Sandbox;
