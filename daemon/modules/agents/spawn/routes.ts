import { agentSpawn } from '../../../../src/api/agents/spawn.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { SpawnService } from './service.ts';
import { nodeWire } from './wire.ts';

const PAGE = 50;

/** The trees of agents that agents have started. */
export function spawnRoutes(spawns: SpawnService): Route[] {
  return implement(agentSpawn, {
    ListSpawnNodes({ caller, params, query }) {
      const { nodes, total } = spawns.below(
        caller.tenant,
        params.sessionId,
        query.limit || PAGE,
        query.offset ?? 0,
      );
      return { nodes: nodes.map(nodeWire), total };
    },
    GetSpawnTree({ caller, params }) {
      const { nodes, total } = spawns.tree(caller.tenant, params.treeId);
      return { nodes: nodes.map(nodeWire), total };
    },
  });
}
