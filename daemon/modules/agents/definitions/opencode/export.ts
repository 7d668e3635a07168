import type { agentDefinitions } from '../../../../../src/api/agents/definitions.ts';
import type { Output } from '../../../../../src/api/endpoint.ts';
import { policy } from '../../reviews/policy.ts';
import type { Agent } from '../agent.ts';
import type { AgentRow } from '../tables.ts';
import { snapshotOf } from '../wire.ts';
import type { Action, OpencodeAgent } from './document.ts';
import { PERMISSIONS, permissionOf, READS, TOOLS } from './names.ts';
import { rulesOf, verdictOn } from './permission.ts';

type Answer = Output<typeof agentDefinitions.ExportAgentToOpencode>;
type PermissionMap = Exclude<NonNullable<OpencodeAgent['permission']>, string>;

/** An agent as opencode takes it, with a warning for everything that opencode has not. */
export function exportAgent(row: AgentRow): Answer {
  const { definition } = row;
  const agent = snapshotOf(row);
  const { mode: keptMode, permission: _permission, ...others } = keptOf(row);
  const permission = permissionsOf(agent, row);
  const tools = switchesOf(agent);
  const made: OpencodeAgent = {
    ...others,
    name: agent.name,
    ...(agent.description ? { description: agent.description } : {}),
    mode: agent.mode === 'primary' && keptMode === 'all' ? 'all' : agent.mode,
    model: agent.model,
    ...(agent.systemPrompt ? { prompt: agent.systemPrompt } : {}),
    ...modelOf(agent),
    ...(agent.maxSteps > 0 ? { steps: agent.maxSteps } : {}),
    ...(Object.keys(tools).length === 0 ? {} : { tools }),
    ...(Object.keys(permission).length === 0 ? {} : { permission }),
    ...(row.enabled ? {} : { disable: true }),
    ...(definition.hidden ? { hidden: true } : {}),
    ...(definition.color ? { color: definition.color } : {}),
  };
  return { opencodeAgentJson: `${JSON.stringify(made, null, 2)}\n`, warnings: warningsOf(row, agent) };
}

/** What an import has kept because it has no counterpart here. */
function keptOf({ definition }: AgentRow): Readonly<Record<string, unknown>> {
  const { opencode } = definition.config;
  return typeof opencode === 'object' && opencode !== null ? (opencode as Record<string, unknown>) : {};
}

function modelOf({ config }: Agent): OpencodeAgent {
  const { temperature, topP, reasoningEffort } = config.model;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
  };
}

/** Tools that are off where their permission cannot say so, and tools that opencode does not have. */
function switchesOf({ tools }: Agent): Record<string, boolean> {
  const half = Object.entries(TOOLS).filter(
    ([tool, name]) => !tools.includes(name) && !isAllOff(tools, permissionOf(tool)),
  );
  const strange = tools.filter((name) => !Object.values(TOOLS).includes(name));
  return Object.fromEntries([
    ...half.map(([tool]) => [tool, false] as const),
    ...strange.map((name) => [name, true] as const),
  ]);
}

function isAllOff(tools: readonly string[], permission: string): boolean {
  return !PERMISSIONS[permission]?.some((tool) => tools.includes(TOOLS[tool] ?? ''));
}

function permissionsOf(agent: Agent, row: AgentRow): PermissionMap {
  const kept = keptOf(row).permission;
  const before = (typeof kept === 'object' && kept !== null ? kept : {}) as PermissionMap;
  const foreign = Object.fromEntries(
    Object.entries(before).filter(([permission]) => !Object.hasOwn(PERMISSIONS, permission)),
  );
  const own = Object.keys(PERMISSIONS).flatMap((permission) => {
    const action = actionOf(agent, permission);
    const earlier = before[permission];
    if (earlier !== undefined && verdictOn(rulesOf({ [permission]: earlier }), permission).action === action)
      return [[permission, earlier] as const];
    const { agents } = agent.config.spawn;
    if (permission === 'task' && agents.length > 0 && action !== 'deny')
      return [
        [permission, { '*': 'deny', ...Object.fromEntries(agents.map((name) => [name, action])) }] as const,
      ];
    const isSaid = verdictOn(rulesOf(foreign), permission).action === action;
    return isSaid ? [] : [[permission, action] as const];
  });
  const strange = agent.tools
    .filter((name) => !Object.values(TOOLS).includes(name) && policy(agent, { name }) !== 'run')
    .map((name) => [name, wordOf(policy(agent, { name }))] as const);
  return { ...foreign, ...Object.fromEntries([...own, ...strange]) };
}

/** The strictest word for the tools of a permission. */
function actionOf(agent: Agent, permission: string): Action {
  const names = (PERMISSIONS[permission] ?? []).map((tool) => TOOLS[tool] ?? '');
  const on = names.filter((name) => agent.tools.includes(name));
  if (on.length === 0) return 'deny';
  const isRead = READS.has(permission) ? true : undefined;
  const asks = permission === 'question' ? true : undefined;
  const words = on.map((name) => wordOf(policy(agent, { name, isRead, asks })));
  return (['deny', 'ask'] as const).find((word) => words.includes(word)) ?? 'allow';
}

function wordOf(permission: ReturnType<typeof policy>): Action {
  return permission === 'run' ? 'allow' : permission === 'ask' ? 'ask' : 'deny';
}

/** Keys of `config` that opencode knows in its own words. */
const SAID = new Set(['temperature', 'topP', 'top_p', 'reasoningEffort', 'reasoning_effort', 'opencode']);
/** Keys of which a part is said: approvals by tool, agents that may be started. */
const PARTS: Readonly<Record<string, string>> = { approval: 'tools', spawn: 'agents' };

function warningsOf({ definition }: AgentRow, { tools, model, permissionMode }: Agent): string[] {
  const { maxTurns, maxToolCallsPerTurn, workingDirectory, mentionAlias, memory, config } = definition;
  const lost = {
    maxTurns: maxTurns > 0,
    maxToolCallsPerTurn: maxToolCallsPerTurn > 0,
    workingDirectory: workingDirectory !== '',
    mentionAlias: mentionAlias !== '',
    memoryConfig: memory.enabled,
  };
  const settings = Object.entries(config).flatMap(([key, value]) => {
    if (SAID.has(key)) return [];
    const part = PARTS[key];
    if (part === undefined || typeof value !== 'object' || value === null) return [`config.${key}`];
    return Object.keys(value)
      .filter((inner) => inner !== part)
      .map((inner) => `config.${key}.${inner}`);
  });
  const foreign = tools.filter((name) => !Object.values(TOOLS).includes(name));
  return [...Object.entries(lost).flatMap(([name, isSaid]) => (isSaid ? [name] : [])), ...settings]
    .map((name) => `${name}: opencode has nothing like it.`)
    .concat(foreign.map((name) => `tools.${name}: opencode has no such tool of its own.`))
    .concat(model.includes('/') ? [] : ['model: opencode names models provider/model.'])
    .concat(
      permissionMode === 'rules' || permissionMode === 'always'
        ? []
        : ['taskPermissionMode: it is written as permissions of the single tools.'],
    );
}
