import { agentDefinitions } from '../../../../src/api/agents/definitions.ts';
import { implement, type Route } from '../../../http/route.ts';
import { misspelt } from './config.ts';
import { exportAgent } from './opencode/export.ts';
import { importAgent } from './opencode/import.ts';
import type { AgentService } from './service.ts';
import { definitionToWire, toWire, versionToWire } from './wire.ts';

/** The operations on agents. */
export function definitionRoutes(service: AgentService): Route[] {
  return implement(agentDefinitions, {
    ListAgents: ({ caller, query }) => {
      const { rows, total } = service.list(caller.tenant, query);
      return { agents: rows.map(toWire), total };
    },
    CreateAgent: ({ caller, body }) => ({
      agent: toWire(service.create(caller, body)),
      warnings: misspelt(body.config ?? {}),
    }),
    GetAgent: ({ caller, params }) => ({ agent: toWire(service.get(caller.tenant, params.id)) }),
    UpdateAgent: ({ caller, params, body }) => ({
      agent: toWire(service.update(caller, params.id, body)),
      warnings: misspelt(body.config ?? {}),
    }),
    DeleteAgent: ({ caller, params }) => {
      const { name } = service.remove(caller, params.id);
      return { success: true, message: `The agent ${name} is gone.` };
    },
    ImportAgentFromOpencode: ({ caller, body }) => importAgent(service, caller, body),
    ExportAgentToOpencode: ({ caller, params }) => exportAgent(service.get(caller.tenant, params.id)),
    ListAgentVersions: ({ caller, params }) => ({
      versions: service.versions(caller.tenant, params.id).map(versionToWire),
    }),
    GetAgentVersion: ({ caller, params }) => {
      const { agent, was } = service.version(caller.tenant, params.id, params.version);
      const { id, tenantId, enabled, createdAt } = toWire(agent);
      const then = { version: was.version, updatedAt: versionToWire(was).createdAt };
      return {
        version: versionToWire(was),
        agent: { id, tenantId, enabled, createdAt, ...then, ...definitionToWire(was.definition) },
      };
    },
    RestoreAgentVersion: ({ caller, params }) => ({
      agent: toWire(service.restore(caller, params.id, params.version)),
    }),
  });
}
