import type { AgentDefinition } from '../../../../src/api/agents/definitions.ts';
import type { Value } from '../../../../src/api/schema.ts';

type Wire = Value<typeof AgentDefinition>;

/** Who may talk to an agent: people, or other agents only. */
export type AgentMode = 'primary' | 'subagent';

/** Whether an agent asks before it changes something; `rules`: only where a rule of its approval settings says so. */
export type PermissionMode = 'rules' | 'ask' | 'always' | 'deny';

/** What an agent remembers, and when it looks. */
export interface MemorySettings {
  readonly enabled: boolean;
  readonly scope: 'agent' | 'user' | 'global';
  readonly autoRetrieve: boolean;
  readonly autoRetrieveTopK: number;
  readonly autoExtract: boolean;
}

/**
 * An agent at one version: what a session keeps of it from its beginning, whatever becomes of the definition. Zero limits
 * mean the limits of the instance.
 */
export interface Agent {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly description: string;
  /** As callers of the gateway name it. */
  readonly model: string;
  readonly systemPrompt: string;
  /** Names of tools, exactly; nothing else may be called. */
  readonly tools: readonly string[];
  readonly config: AgentConfig;
  /** Turns of one session. */
  readonly maxTurns: number;
  readonly maxToolCallsPerTurn: number;
  /** Calls of the model in one session. */
  readonly maxSteps: number;
  readonly mode: AgentMode;
  readonly permissionMode: PermissionMode;
  /** Where commands and paths of its sandbox begin; empty: the sandbox's own. */
  readonly workingDirectory: string;
  readonly memory: MemorySettings;
  /** Counts up with every change. */
  readonly version: number;
}

/** Which calls of tools wait for a person. */
export interface ApprovalSettings {
  /** Patterns of tool names. */
  readonly tools: readonly string[];
  readonly matchMode: 'exact' | 'prefix' | 'glob';
  readonly timeoutMs: number;
  /** What happens to a call about which nobody has decided in time. */
  readonly defaultAction: 'approve' | 'deny';
}

/** The sandbox of a session of an agent. */
export interface SandboxSettings {
  readonly image?: string;
  readonly template?: string;
  readonly cpuLimit?: number;
  readonly memoryMb?: number;
  readonly diskMb?: number;
  readonly timeoutSeconds?: number;
  readonly networkMode?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Whom an agent may start, and how much. */
export interface SpawnSettings {
  /** Agents that it may start, by id, name or mention alias; empty: every agent of the tenant. */
  readonly agents: readonly string[];
  /** Whether delegate_job and check_job are there. */
  readonly async: boolean;
  readonly maxConcurrentJobs: number;
  /** Levels below the first session. */
  readonly maxDepth: number;
  /** Sub-agents of one tree. */
  readonly maxNodes: number;
  /** Tokens of one tree; 0: no bound. */
  readonly maxTokens: number;
}

/** When the beginning of a long conversation is put in few words. */
export interface CompactionSettings {
  readonly enabled: boolean;
  /** The model that does it; empty: the agent's own. */
  readonly model: string;
  /** Tokens that the model takes; 0: as the price list says. */
  readonly contextTokens: number;
}

/** How the model is asked. Absent: as the model does by itself. */
export interface ModelSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly reasoningEffort?: string;
}

/** The free-form `config` of an agent, as far as svc reads it. Everything has a value. */
export interface AgentConfig {
  /** Its sandbox outlives its sessions and is shared by them. */
  readonly lifecycle: 'ephemeral' | 'persistent';
  /** Texts of its identity, in the order in which they stand after the system prompt. */
  readonly identity: readonly string[];
  readonly model: ModelSettings;
  /** Models to ask when the agent's own fails, in their order. */
  readonly fallbackModels: readonly string[];
  readonly approval: ApprovalSettings;
  readonly sandbox: SandboxSettings;
  readonly spawn: SpawnSettings;
  readonly compaction: CompactionSettings;
}

/** Agents, as the rest of the module asks for them. */
export interface Agents {
  /** An agent as it is now, by its id. Errors: not_found. */
  get(tenant: string, id: string): Agent;
  /** By id, name or mention alias, the ones that are on; undefined when there is none. */
  find(tenant: string, reference: string): Agent | undefined;
}

/** An agent on the wire. */
export type AgentWire = Wire;
