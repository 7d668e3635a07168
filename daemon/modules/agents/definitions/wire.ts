import type { AgentVersion } from '../../../../src/api/agents/definitions.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { Agent, AgentWire } from './agent.ts';
import { readConfig } from './config.ts';
import { type Definition, PERMISSION_MODES, WIRE_MODES } from './definition.ts';
import type { AgentRow, VersionRow } from './tables.ts';

type WirePermission = keyof typeof PERMISSION_MODES;

/** What sessions keep of an agent. */
export function snapshotOf({ id, tenant, version, definition }: AgentRow): Agent {
  const { hidden: _hidden, color: _color, mentionAlias: _alias, config, ...agent } = definition;
  return { ...agent, id, tenant, version, config: readConfig(config) };
}

/** An agent as the API shows it. */
export function toWire(row: AgentRow): AgentWire {
  const { id, tenant: tenantId, version, enabled, createdAt, updatedAt, definition } = row;
  return {
    ...{ id, tenantId, version, enabled },
    ...definitionToWire(definition),
    createdAt: rfc3339(createdAt),
    updatedAt: rfc3339(updatedAt),
  };
}

/** An agent that is not there, or not so any more, as the API shows it. */
export function definitionToWire({ memory, permissionMode, mode, tools, ...same }: Definition): AgentWire {
  const policy = {
    taskPermissionMode: wirePermission(permissionMode),
    maxSteps: same.maxSteps,
    workingDirectory: same.workingDirectory,
  };
  return {
    ...same,
    ...policy,
    tools: [...tools],
    mode: WIRE_MODES[mode],
    executionPolicy: policy,
    memoryConfig: { ...memory },
  };
}

/** A change as the API shows it. */
export function versionToWire(row: Omit<VersionRow, 'definition'>): Value<typeof AgentVersion> {
  const { version, createdAt, actor, changes, byAgent } = row;
  return {
    ...{ version, changes },
    createdAt: rfc3339(createdAt),
    changedBy: actor,
    ...(byAgent === null ? {} : { changedByAgent: byAgent }),
  };
}

function wirePermission(mode: Definition['permissionMode']): WirePermission {
  const names = Object.keys(PERMISSION_MODES) as WirePermission[];
  return names.find((name) => PERMISSION_MODES[name] === mode) ?? 'TASK_PERMISSION_MODE_UNSPECIFIED';
}
