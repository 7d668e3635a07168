import type { HostedSite } from '../../../http/hosted.ts';
import type { Room, RoomContext } from '../room.ts';
import { PreviewAddresses } from './address.ts';
import { Awake } from './awake.ts';
import { BoxAgent } from './preview/agent.ts';
import { PreviewSite } from './preview/site.ts';
import { portRoutes } from './routes.ts';
import { PortService } from './service.ts';
import { PortStore } from './store.ts';
import { PreviewTokens } from './token.ts';
import { Visits } from './visits.ts';

/** Events after which nobody may be connected any more. */
const ENDS = new Set(['stopping', 'stopped', 'terminating', 'terminated', 'failed']);

/** Ports of sandboxes: found, given an address, opened to browsers, and reached by their owners. */
export function createPortsRoom({
  app,
  driver,
  lifecycle,
  commands,
  events,
  port,
}: RoomContext): Room & { readonly ports: PortService } {
  const store = new PortStore(app.db);
  const addresses = new PreviewAddresses(app.config, port);
  const tokens = new PreviewTokens(app.secrets);
  const visits = new Visits();
  const agent = new BoxAgent(driver);
  const ports = new PortService({ app, driver, lifecycle, events, store, addresses, tokens, visits });
  const awake = new Awake(lifecycle, driver, commands, store);
  const site: HostedSite = new PreviewSite({ app, driver, ports, addresses, tokens, visits, awake, agent });
  let unsubscribe: (() => void) | undefined;
  return {
    ports,
    routes: portRoutes(ports, visits),
    sites: [site],
    isBusy: (id) => visits.isBusy(id),
    start() {
      store.sweep();
      unsubscribe = app.bus.on('sandbox.event', ({ tenant, sandboxId, type }) => {
        ports.forget(sandboxId);
        if (!ENDS.has(type)) return;
        visits.end(sandboxId);
        if (type === 'terminated') store.removeAll(tenant, sandboxId);
      });
    },
    stop() {
      unsubscribe?.();
      visits.endAll();
      agent.destroy();
    },
  };
}
