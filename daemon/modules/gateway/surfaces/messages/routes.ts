import { messages } from '../../../../../src/api/gateway/messages.ts';
import { SECOND_MS } from '../../../../../src/kit/time.ts';
import { implement, type Route } from '../../../../http/route.ts';
import { modelCall } from '../../pipeline/call.ts';
import type { ListedModel, Router } from '../../routing/router.ts';
import type { MessagesSurface } from './surface.ts';

/** Messages, the counting of them, and the models that they may name. */
export function messagesRoutes(surface: MessagesSurface, router: Router): Route[] {
  return implement(messages, {
    CreateMessage: (call) => surface.create(modelCall('messages', call, call.body)),
    CountMessageTokens: async (call) => {
      const { tokens, headers } = await surface.count(modelCall('count_tokens', call, call.body));
      for (const [name, value] of Object.entries(headers)) call.headers.set(name, value);
      return { input_tokens: tokens };
    },
    ListMessagesModels: async ({ caller }) => {
      const data = (await router.list(caller.tenant)).map(modelToWire);
      return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    },
  });
}

function modelToWire({ id, created }: ListedModel) {
  return {
    type: 'model' as const,
    id,
    display_name: id,
    created_at: new Date(created * SECOND_MS).toISOString(),
  };
}
