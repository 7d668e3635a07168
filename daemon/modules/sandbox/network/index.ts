import type { Room, RoomContext } from '../room.ts';
import { networkRoutes } from './routes.ts';
import { NetworkService } from './service.ts';

export { NetworkService } from './service.ts';

/** What sandboxes reach. */
export function createNetworkRoom({ app, driver, lifecycle }: RoomContext): Room {
  return { routes: networkRoutes(new NetworkService(app, driver, lifecycle)) };
}
