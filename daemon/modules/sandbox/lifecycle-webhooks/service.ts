import { LIFECYCLE_EVENTS, type lifecycleWebhooks } from '../../../../src/api/sandbox/lifecycle-webhooks.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { fail } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { App } from '../../../app.ts';
import { newEndpointSecret } from '../../../outbound/signature.ts';
import { checkAddress } from './address.ts';
import type { Dispatcher } from './dispatcher.ts';
import { ATTEMPTS, bodyOf, newDelivery } from './outbox.ts';
import type { LifecycleWebhookStore } from './store.ts';
import type { DeliveryRow, EndpointRow } from './tables.ts';

type CreateRequest = Value<typeof lifecycleWebhooks.CreateWebhookEndpoint.body>;

/** Most endpoints of one tenant. */
const MOST_ENDPOINTS = 20;

/** Makes and removes endpoints, and sends to them on demand. */
export class LifecycleWebhookService {
  constructor(
    private readonly app: App,
    private readonly store: LifecycleWebhookStore,
    private readonly dispatcher: Dispatcher,
  ) {}

  /** Adds an endpoint. `secret` is there when it was made here; it is shown this once. Errors: outbound_refused, resource_exhausted. */
  create(tenant: string, { url, events, secret }: CreateRequest): { row: EndpointRow; secret?: string } {
    checkAddress(url, this.app.config);
    if (this.store.listEndpoints(tenant).length >= MOST_ENDPOINTS)
      throw fail('resource_exhausted', {
        message: `There are ${MOST_ENDPOINTS} endpoints already. Remove one first.`,
      });
    const createdAt = this.app.clock.now();
    const id = newId('whk', createdAt);
    const made = secret ? undefined : newEndpointSecret();
    const sealed = this.app.secrets.seal(tenant, id, secret || made || '');
    const row = { id, tenant, url, events: namesOf(events), secret: sealed, createdAt };
    this.store.insertEndpoint(row);
    return made ? { row, secret: made } : { row };
  }

  list(tenant: string): EndpointRow[] {
    return this.store.listEndpoints(tenant);
  }

  /** Removes an endpoint; what waits for it is not sent any more. Errors: not_found. */
  delete(tenant: string, id: string): void {
    if (!this.store.deleteEndpoint(tenant, id)) throw missing('webhook endpoint', id);
  }

  /** The latest deliveries, newest first. Errors: not_found. */
  deliveries(tenant: string, id: string): DeliveryRow[] {
    this.get(tenant, id);
    return this.store.list(tenant, id);
  }

  /** Sends a test event, once, and waits for the answer. Errors: not_found. */
  async test(tenant: string, id: string): Promise<DeliveryRow> {
    const endpoint = this.get(tenant, id);
    const now = this.app.clock.now();
    const body = bodyOf('sandbox.test', now, 'sbx_test', tenant, 'running');
    const delivery = this.store.insert(newDelivery(endpoint, 'sandbox.test', body, now, 1));
    await this.dispatcher.sendNow(delivery);
    return this.delivery(tenant, id, delivery.id);
  }

  /** Sends a delivery that has ended once more, under its own id. Errors: not_found, failed_precondition. */
  replay(tenant: string, endpointId: string, id: string): DeliveryRow {
    this.get(tenant, endpointId);
    const { status } = this.delivery(tenant, endpointId, id);
    const again = {
      status: 'pending',
      attempts: 0,
      deliveredAt: null,
      maxAttempts: ATTEMPTS,
      nextAttemptAt: this.app.clock.now(),
    } as const;
    if (status === 'pending' || !this.store.change(tenant, id, status, again))
      throw fail('failed_precondition', { message: `The delivery ${id} is on its way already.` });
    this.dispatcher.expect(endpointId);
    return this.delivery(tenant, endpointId, id);
  }

  private get(tenant: string, id: string): EndpointRow {
    const row = this.store.findEndpoint(tenant, id);
    if (!row) throw missing('webhook endpoint', id);
    return row;
  }

  private delivery(tenant: string, endpointId: string, id: string): DeliveryRow {
    const row = this.store.find(tenant, endpointId, id);
    if (!row) throw missing('delivery', id);
    return row;
  }
}

/** `["*"]` for all; else each name once, in the order of the list. */
function namesOf(events: CreateRequest['events']): readonly string[] {
  if (!events || events.length === 0 || events.includes('*')) return ['*'];
  return LIFECYCLE_EVENTS.filter((name) => events.includes(name));
}

function missing(what: string, id: string) {
  return fail('not_found', { what, id });
}
