import { lifecycleWebhooks } from '../../../../src/api/sandbox/lifecycle-webhooks.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { LifecycleWebhookService } from './service.ts';
import { toDelivery, toEndpoint } from './wire.ts';

/** The operations on endpoints that are told what happens to sandboxes. */
export function lifecycleWebhookRoutes(service: LifecycleWebhookService): Route[] {
  return implement(lifecycleWebhooks, {
    ListWebhookEndpoints: ({ caller }) => ({ webhooks: service.list(caller.tenant).map(toEndpoint) }),
    CreateWebhookEndpoint: ({ caller, body }) => {
      const { row, secret } = service.create(caller.tenant, body);
      return { ...toEndpoint(row), secret };
    },
    DeleteWebhookEndpoint: ({ caller, params }) => {
      service.delete(caller.tenant, params.id);
      return { success: true, message: 'The endpoint is told nothing more.' };
    },
    ListWebhookDeliveries: ({ caller, params }) => ({
      deliveries: service.deliveries(caller.tenant, params.id).map(toDelivery),
    }),
    TestWebhookEndpoint: async ({ caller, params }) => ({
      delivery: toDelivery(await service.test(caller.tenant, params.id)),
    }),
    ReplayWebhookDelivery: ({ caller, params }) => ({
      delivery: toDelivery(service.replay(caller.tenant, params.id, params.deliveryId)),
    }),
  });
}
