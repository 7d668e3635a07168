import type { App } from '../../../app.ts';
import type { Route } from '../../../http/route.ts';
import type { ToolSource } from '../tools/tool.ts';
import type { Agents } from './agent.ts';
import { definitionRoutes } from './routes.ts';
import { AgentService } from './service.ts';
import { AgentStore } from './store.ts';
import { snapshotOf } from './wire.ts';

export type { AgentService } from './service.ts';

/** The agents of tenants: what they are, what they were, and their form elsewhere. */
export interface DefinitionsRoom {
  readonly routes: Route[];
  readonly agents: Agents;
  readonly service: AgentService;
}

/** Makes the room of definitions. `sources` say which tools there are, for advice; without them nothing is said of tools. */
export function createDefinitionsRoom(
  app: App,
  sources: () => readonly ToolSource[] = () => [],
): DefinitionsRoom {
  const service = new AgentService(app, new AgentStore(app.db));
  return {
    routes: definitionRoutes(service, sources),
    service,
    agents: {
      get: (tenant, id) => snapshotOf(service.get(tenant, id)),
      find(tenant, reference) {
        const row = service.find(tenant, reference);
        return row?.enabled ? snapshotOf(row) : undefined;
      },
    },
  };
}
