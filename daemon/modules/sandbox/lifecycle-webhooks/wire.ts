import type { WebhookDelivery, WebhookEndpoint } from '../../../../src/api/sandbox/lifecycle-webhooks.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { DeliveryRow, EndpointRow } from './tables.ts';

/** An endpoint as the API shows it. */
export function toEndpoint({ id, url, events, createdAt }: EndpointRow): Value<typeof WebhookEndpoint> {
  return { id, url, events: [...events], hasSecret: true, createdAt: rfc3339(createdAt) };
}

/** A delivery as the API shows it. */
export function toDelivery(row: DeliveryRow): Value<typeof WebhookDelivery> {
  return {
    id: row.id,
    event: row.event,
    status: row.status,
    attempts: row.attempts,
    createdAt: rfc3339(row.createdAt),
    responseStatus: row.responseStatus ?? undefined,
    error: row.error ?? undefined,
    durationMs: row.durationMs === null ? undefined : String(row.durationMs),
    deliveredAt: rfc3339(row.deliveredAt),
    payload: JSON.parse(row.body) as Record<string, unknown>,
  };
}
