import { agentSpawn } from '../../../../src/api/agents/spawn.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { SpawnService } from './service.ts';
import { nodeWire } from './wire.ts';

const PAGE = 50;

/** The trees of agents that agents have started. */
export function spawnRoutes(spawns: SpawnService): Route[] {
  return implement(agentSpawn, {
    ListSpawnNodes({ caller, params, query }) {
      const { limit = 0, offset = 0 } = query;
      refuseNegative({ limit, offset });
      const { nodes, total } = spawns.below(caller.tenant, params.sessionId, limit || PAGE, offset);
      return { nodes: nodes.map(nodeWire), total };
    },
    GetSpawnTree({ caller, params }) {
      const { nodes, total } = spawns.tree(caller.tenant, params.treeId);
      return { nodes: nodes.map(nodeWire), total };
    },
  });
}

function refuseNegative(numbers: Readonly<Record<string, number>>): void {
  for (const [field, value] of Object.entries(numbers))
    if (value < 0) throw invalid({ field, description: 'must not be negative' });
}
