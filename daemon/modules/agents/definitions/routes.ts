import { agentDefinitions } from '../../../../src/api/agents/definitions.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { ToolSource } from '../tools/tool.ts';
import { adviceOn } from './advice.ts';
import { exportAgent } from './opencode/export.ts';
import { importAgent } from './opencode/import.ts';
import type { AgentService } from './service.ts';
import type { AgentRow } from './tables.ts';
import { definitionToWire, toWire, versionToWire } from './wire.ts';

/** The operations on agents. `sources` say which tools there are, when somebody asks. */
export function definitionRoutes(service: AgentService, sources: () => readonly ToolSource[]): Route[] {
  const withAdvice = (row: AgentRow) => ({ agent: toWire(row), warnings: adviceOn(row, sources()) });
  return implement(agentDefinitions, {
    ListAgents: ({ caller, query }) => {
      const { rows, total } = service.list(caller.tenant, query);
      return { agents: rows.map(toWire), total };
    },
    CreateAgent: ({ caller, body }) => withAdvice(service.create(caller, body)),
    GetAgent: ({ caller, params }) => ({ agent: toWire(service.get(caller.tenant, params.id)) }),
    UpdateAgent: ({ caller, params, body }) => withAdvice(service.update(caller, params.id, body)),
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
