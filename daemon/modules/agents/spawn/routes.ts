import { agentSpawn } from '../../../../src/api/agents/spawn.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { SpawnService } from './service.ts';
import { nodeWire } from './wire.ts';

/** The trees of agents that agents have started. */
export function spawnRoutes(spawns: SpawnService): Route[] {
  return implement(agentSpawn, {
    ListSpawnNodes({ caller, params, query }) {
      const { limit, offset } = pageOf(query);
      const { nodes, total } = spawns.below(caller.tenant, params.sessionId, limit, offset);
      return { nodes: nodes.map(nodeWire), total };
    },
    GetSpawnTree({ caller, params }) {
      const { nodes, total } = spawns.tree(caller.tenant, params.treeId);
      return { nodes: nodes.map(nodeWire), total };
    },
  });
}
