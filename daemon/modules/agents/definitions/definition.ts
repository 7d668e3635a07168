import type { agentDefinitions } from '../../../../src/api/agents/definitions.ts';
import type { Input } from '../../../../src/api/endpoint.ts';
import { type FieldViolation, invalid } from '../../../../src/errors/app-error.ts';
import type { Agent, AgentMode, MemorySettings, PermissionMode } from './agent.ts';
import { violationsOf } from './checks.ts';
import { readConfig } from './config.ts';

/** An agent as a caller wants it; in a change, only what is to be another. */
export type WantedAgent = Input<typeof agentDefinitions.UpdateAgent>['body'];

/** Everything that is said of an agent at one version. Zero limits mean the limits of the instance. */
export interface Definition extends Omit<Agent, 'id' | 'tenant' | 'config' | 'version'> {
  /** As it was sent. What svc reads of it: readConfig. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly hidden: boolean;
  readonly color: string;
  /** Another name of it, for mentions; empty: none. */
  readonly mentionAlias: string;
}

const BLANK: Definition = {
  name: '',
  description: '',
  model: '',
  systemPrompt: '',
  tools: [],
  config: {},
  maxTurns: 0,
  maxToolCallsPerTurn: 0,
  maxSteps: 0,
  mode: 'primary',
  permissionMode: 'rules',
  workingDirectory: '',
  memory: { enabled: false, scope: 'agent', autoRetrieve: true, autoRetrieveTopK: 10, autoExtract: true },
  hidden: false,
  color: '',
  mentionAlias: '',
};

/** The permission modes by their names on the wire. */
export const PERMISSION_MODES = {
  TASK_PERMISSION_MODE_UNSPECIFIED: 'rules',
  TASK_PERMISSION_MODE_ASK: 'ask',
  TASK_PERMISSION_MODE_ALWAYS: 'always',
  TASK_PERMISSION_MODE_DENY: 'deny',
} as const satisfies Readonly<Record<string, PermissionMode>>;

/** The modes by their names on the wire; what is not among them says nothing. */
export const MODES: Readonly<Record<string, AgentMode>> = {
  AGENT_MODE_PRIMARY: 'primary',
  AGENT_MODE_SUBAGENT: 'subagent',
};

/** The names of modes on the wire. */
export const WIRE_MODES = { primary: 'AGENT_MODE_PRIMARY', subagent: 'AGENT_MODE_SUBAGENT' } as const;

/**
 * What an agent becomes: what is wanted, and for the rest what it was. Errors: invalid_argument naming each wrong field,
 * also when two of them contradict each other.
 */
export function defined(wanted: WantedAgent, old: Definition = BLANK): Definition {
  const policy = policyOf(wanted);
  const next: Definition = {
    name: wanted.name ?? old.name,
    description: wanted.description ?? old.description,
    model: wanted.model ?? old.model,
    systemPrompt: wanted.systemPrompt ?? old.systemPrompt,
    tools: toolsOf(wanted, old),
    config: wanted.config ?? old.config,
    maxTurns: wanted.maxTurns ?? old.maxTurns,
    maxToolCallsPerTurn: wanted.maxToolCallsPerTurn ?? old.maxToolCallsPerTurn,
    maxSteps: policy.maxSteps ?? old.maxSteps,
    mode: MODES[wanted.mode ?? ''] ?? old.mode,
    permissionMode: policy.taskPermissionMode
      ? PERMISSION_MODES[policy.taskPermissionMode]
      : old.permissionMode,
    workingDirectory: policy.workingDirectory ?? old.workingDirectory,
    memory: memoryOf(wanted.memoryConfig, old.memory),
    hidden: wanted.hidden ?? old.hidden,
    color: wanted.color ?? old.color,
    mentionAlias: wanted.mentionAlias?.replace(/^@/, '') ?? old.mentionAlias,
  };
  refuse(violationsOf(next));
  readConfig(next.config);
  return next;
}

/** The names of the fields in which two definitions differ, as the API has them. */
export function changesBetween(old: Definition, next: Definition): string[] {
  const names = Object.keys(next) as Array<keyof Definition>;
  return names
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(next[name]))
    .map((name) => WIRE_NAMES[name] ?? name);
}

const WIRE_NAMES: Partial<Record<keyof Definition, string>> = {
  permissionMode: 'taskPermissionMode',
  memory: 'memoryConfig',
};

/** The execution policy, which may be said in two places. */
function policyOf({
  executionPolicy = {},
  ...flat
}: WantedAgent): NonNullable<WantedAgent['executionPolicy']> {
  const wrong = (['taskPermissionMode', 'maxSteps', 'workingDirectory'] as const).filter(
    (name) =>
      flat[name] !== undefined && executionPolicy[name] !== undefined && flat[name] !== executionPolicy[name],
  );
  refuse(
    wrong.map((name) => ({
      field: `executionPolicy.${name}`,
      description: `says something else than ${name}: send one of them, or the same twice`,
    })),
  );
  const { taskPermissionMode, maxSteps, workingDirectory } = flat;
  return {
    taskPermissionMode: taskPermissionMode ?? executionPolicy.taskPermissionMode,
    maxSteps: maxSteps ?? executionPolicy.maxSteps,
    workingDirectory: workingDirectory ?? executionPolicy.workingDirectory,
  };
}

function toolsOf({ tools = [], clearTools }: WantedAgent, old: Definition): readonly string[] {
  if (clearTools && tools.length > 0)
    throw invalid({ field: 'clearTools', description: 'empties the list: leave tools out' });
  if (clearTools) return [];
  return tools.length > 0 ? tools : old.tools;
}

function memoryOf(wanted: WantedAgent['memoryConfig'], old: MemorySettings): MemorySettings {
  if (!wanted) return old;
  return {
    enabled: wanted.enabled ?? old.enabled,
    scope: wanted.scope ?? old.scope,
    autoRetrieve: wanted.autoRetrieve ?? old.autoRetrieve,
    // 0 asks for what is usual, as absent fields of the reference do.
    autoRetrieveTopK:
      wanted.autoRetrieveTopK === undefined
        ? old.autoRetrieveTopK
        : wanted.autoRetrieveTopK || BLANK.memory.autoRetrieveTopK,
    autoExtract: wanted.autoExtract ?? old.autoExtract,
  };
}

function refuse([first, ...others]: readonly FieldViolation[]): void {
  if (first) throw invalid(first, ...others);
}
