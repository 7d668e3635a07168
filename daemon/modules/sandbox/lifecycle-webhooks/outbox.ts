import { newId } from '../../../../src/kit/id.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { Recording } from '../history/events.ts';
import { statusOf } from '../lifecycle/states.ts';
import type { SandboxStore } from '../lifecycle/store.ts';
import { type LifecycleWebhookStore, MOST_WAITING } from './store.ts';
import type { DeliveryRow, EndpointRow, LifecycleEvent } from './tables.ts';

/** Attempts of one delivery (spec, Limits). */
export const ATTEMPTS = 3;

/** What the events of a sandbox's history are called outside. */
const TOLD: Readonly<Record<string, LifecycleEvent>> = {
  running: 'sandbox.started',
  revived: 'sandbox.started',
  stopped: 'sandbox.stopped',
  archived: 'sandbox.archived',
  terminated: 'sandbox.deleted',
  failed: 'sandbox.error',
  error: 'sandbox.error',
};

/** Writes what endpoints are to be told, in the transaction of the event itself: neither is without the other. */
export class Outbox {
  constructor(
    private readonly sandboxes: Pick<SandboxStore, 'find'>,
    private readonly store: LifecycleWebhookStore,
    /** Something was written for an endpoint. */
    private readonly written: (endpointId: string) => void,
  ) {}

  /** Witnesses an event. */
  readonly witness = ({ tenant, sandboxId, event, at }: Recording): void => {
    const name = TOLD[event.type];
    if (!name) return;
    const endpoints = this.store.listEndpoints(tenant).filter((one) => wants(one, name));
    if (endpoints.length === 0) return;
    const body = bodyOf(
      name,
      at,
      sandboxId,
      tenant,
      this.sandboxes.find(tenant, sandboxId)?.state ?? 'terminated',
    );
    for (const endpoint of endpoints) {
      this.store.insert(this.deliveryTo(endpoint, name, body, at));
      this.written(endpoint.id);
    }
  };

  private deliveryTo(
    endpoint: EndpointRow,
    event: string,
    body: string,
    at: number,
  ): Omit<DeliveryRow, 'seq'> {
    const delivery = newDelivery(endpoint, event, body, at, ATTEMPTS);
    if (this.store.countWaiting(endpoint.id) < MOST_WAITING) return delivery;
    return { ...delivery, status: 'failed', error: `${MOST_WAITING} deliveries wait already` };
  }
}

/** A delivery that is due at once. */
export function newDelivery(
  { id: endpointId, tenant }: EndpointRow,
  event: string,
  body: string,
  at: number,
  maxAttempts: number,
): Omit<DeliveryRow, 'seq'> {
  return {
    id: newId('del', at),
    tenant,
    endpointId,
    event,
    body,
    status: 'pending',
    attempts: 0,
    maxAttempts,
    nextAttemptAt: at,
    responseStatus: null,
    error: null,
    durationMs: null,
    createdAt: at,
    deliveredAt: null,
  };
}

/** The body of a delivery. */
export function bodyOf(
  event: string,
  at: number,
  sandboxId: string,
  tenant: string,
  state: Parameters<typeof statusOf>[0],
): string {
  return JSON.stringify({
    event,
    timestamp: rfc3339(at),
    sandbox_id: sandboxId,
    tenant_id: tenant,
    state,
    status: statusOf(state),
  });
}

function wants({ events }: EndpointRow, name: LifecycleEvent): boolean {
  return events.includes('*') || events.includes(name);
}
