import { chat } from '../../../src/api/gateway/chat.ts';
import { compatModels } from '../../../src/api/gateway/models.ts';
import { implement, type Route } from '../../http/route.ts';
import type { ListedModel } from './router.ts';
import type { GatewayService } from './service.ts';

/** The operations of the gateway that exist. */
export function gatewayRoutes(service: GatewayService): Route[] {
  return [
    ...implement(chat, {
      ChatCompletion: ({ body, signal }) => service.complete(body, signal),
    }),
    ...implement(compatModels, {
      ListCompatModels: async () => ({ object: 'list' as const, data: (await service.models()).map(toWire) }),
      GetCompatModel: async ({ params }) => toWire(await service.model(params.model)),
    }),
  ];
}

function toWire({ id, created, provider }: ListedModel) {
  return { id, object: 'model' as const, created, owned_by: provider };
}
