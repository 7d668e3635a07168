import { readConfig } from '../../definitions/config.ts';
import type { AgentRow } from '../../definitions/tables.ts';

/** An agent in a list, for a model. */
export function brief({ id, enabled, definition }: AgentRow): object {
  const { name, description, model, mode, tools } = definition;
  return { id, name, description, model, mode, tools, enabled };
}

/** An agent, for a model: without the variables of its sandbox, which may be secret, and without free-form settings. */
export function full(row: AgentRow): object {
  const { config, memory: _memory, ...definition } = row.definition;
  const { approval, spawn, model: settings } = readConfig(config);
  return {
    ...{ id: row.id, version: row.version, enabled: row.enabled },
    ...definition,
    ...settings,
    model: definition.model,
    approval,
    startsAgents: spawn.agents,
  };
}
