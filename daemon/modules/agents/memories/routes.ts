import { agentMemories } from '../../../../src/api/agents/memories.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { MemoryService } from './service.ts';
import { memoryToWire } from './wire.ts';

/** The operations on memories of agents. */
export function memoryRoutes(service: MemoryService): Route[] {
  return implement(agentMemories, {
    ListAgentMemories: ({ caller, params, query }) => {
      const { rows, total } = service.list(caller, params.agentId, query);
      return { memories: rows.map(memoryToWire), total };
    },
    CreateAgentMemory: async ({ caller, params, body, signal }) => ({
      memory: memoryToWire(await service.create(caller, params.agentId, body, signal)),
    }),
    UpdateAgentMemory: async ({ caller, params, body, signal }) => ({
      memory: memoryToWire(await service.update(caller, params.memoryId, body, signal)),
    }),
    DeactivateAgentMemory: ({ caller, params }) => {
      service.retire(caller, params.memoryId);
      return { success: true };
    },
    DeleteAgentMemory: ({ caller, params }) => {
      service.remove(caller, params.memoryId);
      return { success: true };
    },
    SetupMemory: async ({ caller, signal }) => ({ success: true, ...(await service.setup(caller, signal)) }),
  });
}
