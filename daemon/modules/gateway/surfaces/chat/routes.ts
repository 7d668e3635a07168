import { chat } from '../../../../../src/api/gateway/chat.ts';
import { implement, type Route } from '../../../../http/route.ts';
import { modelCall } from '../../pipeline/call.ts';
import type { ChatSurface } from './surface.ts';

/** Chat completions. */
export function chatRoutes(surface: ChatSurface): Route[] {
  return implement(chat, {
    ChatCompletion: (call) => surface.complete(modelCall('chat', call, call.body)),
  });
}
