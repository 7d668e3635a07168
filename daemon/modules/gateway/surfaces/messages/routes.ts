import { messages } from '../../../../../src/api/gateway/messages.ts';
import { implement, type Route } from '../../../../http/route.ts';
import { modelCall } from '../../pipeline/call.ts';
import type { MessagesSurface } from './surface.ts';

/** Messages, and the counting of them. */
export function messagesRoutes(surface: MessagesSurface): Route[] {
  return implement(messages, {
    CreateMessage: (call) => surface.create(modelCall('messages', call, call.body)),
    CountMessageTokens: (call) => surface.count(modelCall('count_tokens', call, call.body)),
  });
}
