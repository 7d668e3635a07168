import type { Room, RoomContext } from '../room.ts';
import { codeRoutes } from './routes.ts';
import { CodeService } from './service.ts';
import { CodeContextStore } from './store.ts';

/** Events after which nothing runs in a sandbox. */
const ENDS = new Set(['stopping', 'terminating', 'failed']);

/** Code in contexts that keep their variables. */
export function createCodeRoom({ app, driver, lifecycle, commands }: RoomContext): Room {
  const store = new CodeContextStore(app.db);
  const code = new CodeService({ app, driver, lifecycle, commands, store });
  let unsubscribe: (() => void) | undefined;
  return {
    routes: codeRoutes(app, code),
    start() {
      store.endAll('svc was restarted', app.clock.now());
      unsubscribe = app.bus.on('sandbox.event', ({ tenant, sandboxId, type }) => {
        if (ENDS.has(type)) code.endBox(tenant, sandboxId);
      });
    },
    stop: () => unsubscribe?.(),
  };
}
