import { gatewayInstance } from '../../../../src/api/gateway/instance.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { InstanceService } from './service.ts';
import { toActivation, toMessage, toStatus } from './wire.ts';

/** The operations on what the instance is, and its licence. */
export function instanceRoutes(service: InstanceService): Route[] {
  return implement(gatewayInstance, {
    GetGateway: ({ params }) => ({
      id: service.requireGateway(params.id),
      name: 'svc',
      description: 'The gateway of this instance: one door to every model.',
    }),
    GetGatewayInstanceStatus: ({ caller }) =>
      toStatus(service.licensing(), service.isOwn(caller) ? caller.tenant : undefined),
    ActivateGatewayInstance: async ({ caller, body }) =>
      toActivation(await service.activate(caller, body), caller.tenant),
    ActivationCallback: async ({ body }) => {
      const outcome = await service.activatedElsewhere(body.signedPayload ?? '', body.callbackSecret);
      const { instanceId, row } = service.licensing();
      return { success: true, instanceId, planTier: row?.planTier ?? 'free', message: toMessage(outcome) };
    },
    SubscriptionStatusCallback: async ({ body }) => {
      const outcome = await service.subscriptionChanged(body.signedPayload ?? '');
      return { success: true, message: toMessage(outcome) };
    },
  });
}
