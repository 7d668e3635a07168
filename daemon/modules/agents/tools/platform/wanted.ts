import type { Agent, AgentConfig, ApprovalSettings } from '../../definitions/agent.ts';
import {
  type Definition,
  PERMISSION_MODES,
  type WantedAgent,
  WIRE_MODES,
} from '../../definitions/definition.ts';
import type { AgentArguments } from './arguments.ts';

type Json = Readonly<Record<string, unknown>>;

/** The agent that a maker makes: what the model says, and for the rest what the maker is bound by itself. */
export function newAgent(args: AgentArguments, maker: Agent): WantedAgent {
  const { permissionMode, model, maxTurns, maxToolCallsPerTurn, maxSteps } = maker;
  return {
    ...fieldsOf({ permissionMode, model, maxTurns, maxToolCallsPerTurn, maxSteps, ...args }),
    config: withSettings(inherited(maker.config), args),
  };
}

/** The change that a model wants of an agent. Its approvals can only become more, and its other settings stay. */
export function changedAgent(
  args: AgentArguments,
  { config }: Definition,
  approval: ApprovalSettings,
): WantedAgent {
  const { approvalTools, temperature, maxTokens } = args;
  const isSet = [approvalTools, temperature, maxTokens].some((value) => value !== undefined);
  const sent = approvalTools
    ? { ...config, approval: { ...approvalIn(config), ...globsOf(approval) } }
    : config;
  return { ...fieldsOf(args), ...(isSet ? { config: withSettings(sent, args) } : {}) };
}

function fieldsOf(args: AgentArguments): WantedAgent {
  const {
    agent: _agent,
    approvalTools: _rules,
    temperature: _temperature,
    maxTokens: _tokens,
    ...said
  } = args;
  const { mode, permissionMode, ...same } = said;
  const names = Object.keys(PERMISSION_MODES) as Array<keyof typeof PERMISSION_MODES>;
  return {
    ...same,
    ...(same.tools?.length === 0 ? { clearTools: true } : {}),
    ...(mode ? { mode: WIRE_MODES[mode] } : {}),
    taskPermissionMode: names.find((name) => PERMISSION_MODES[name] === permissionMode),
  };
}

/** What of a maker's configuration holds for the agents that it makes. */
function inherited({ approval, sandbox, spawn, compaction }: AgentConfig): Json {
  const { env, ...box } = sandbox;
  return {
    approval: {
      ...globsOf(approval),
      timeoutSeconds: Math.ceil(approval.timeoutMs / 1_000),
      defaultAction: approval.defaultAction,
    },
    sandbox: { ...box, ...(env ? { envVars: env } : {}) },
    spawn,
    monitor: compaction,
  };
}

function withSettings(config: Json, { approvalTools = [], temperature, maxTokens }: AgentArguments): Json {
  const { max_tokens: spelt, ...rest } = config;
  const approval = approvalIn(config);
  const tools = Array.isArray(approval.tools) ? approval.tools : [];
  return {
    ...rest,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? (spelt === undefined ? {} : { max_tokens: spelt }) : { maxTokens }),
    ...(approvalTools.length === 0
      ? {}
      : { approval: { ...approval, tools: [...new Set([...tools, ...approvalTools])] } }),
  };
}

function approvalIn({ approval }: Json): Json {
  if (typeof approval !== 'object' || approval === null) return {};
  const { match_mode: _spelt, ...rest } = approval as Json;
  return rest;
}

/** Rules of any kind as globs. A rule with a star or question mark that is not a glob means no tool. */
function globsOf({ tools, matchMode }: ApprovalSettings): { tools: string[]; matchMode: 'glob' } {
  if (matchMode === 'glob') return { tools: [...tools], matchMode };
  const literal = tools.filter((pattern) => !/[*?]/.test(pattern));
  return { tools: literal.map((rule) => (matchMode === 'prefix' ? `${rule}*` : rule)), matchMode: 'glob' };
}
