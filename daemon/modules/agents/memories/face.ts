import type { Caller } from '../../../http/route.ts';
import type { Agent } from '../definitions/agent.ts';

/** The kinds of memory. */
export type MemoryType = 'fact' | 'instruction' | 'session_summary' | 'document';

/** Who shares a memory: one agent, all agents of a user, or the tenant. */
export type MemoryScope = 'agent' | 'user' | 'global';

/** Something to remember. */
export interface NewMemory {
  readonly type: MemoryType;
  readonly content: string;
  readonly scope: MemoryScope;
  /** What the memory is about: a new one with the same key takes the place of the old one. */
  readonly factKey?: string;
  /** From 0 to 1. */
  readonly confidence?: number;
  readonly source: 'auto_extracted' | 'user_explicit' | 'tool_stored' | 'consolidation';
  readonly sessionId?: string;
  readonly turnNumber?: number;
}

/** A memory that fits a question. */
export interface Recalled {
  readonly id: string;
  readonly type: MemoryType;
  readonly scope: MemoryScope;
  readonly content: string;
  readonly factKey: string;
  readonly confidence: number;
  /** The better it fits, the more; comparable within one recall. */
  readonly score: number;
}

/** What is looked for. */
export interface RecallWish {
  readonly query: string;
  readonly topK: number;
  readonly types?: readonly MemoryType[];
  /** Instructions hold whatever is asked, so they come too where what fits leaves room; false: only what fits. */
  readonly standing?: false;
  readonly signal: AbortSignal;
}

/** One turn, to learn from. */
export interface LearnedTurn {
  readonly sessionId: string;
  readonly turnNumber: number;
  /** What the user said, and nothing that was recalled. */
  readonly userInput: string;
}

/** Memories of agents, as the turn loop and the tools use them. `caller` is who the turn belongs to. */
export interface AgentMemories {
  /** What an agent may know that fits: its own, its user's and the tenant's, as its scope allows. */
  recall(caller: Caller, agent: Agent, wish: RecallWish): Promise<readonly Recalled[]>;
  /** Errors: invalid_argument; those of the gateway when a vector cannot be made are not among them. */
  remember(caller: Caller, agent: Agent, memory: NewMemory, signal: AbortSignal): Promise<Recalled>;
  /** Notes durably, in the caller's transaction, that a turn is to be learned from; it is done later, also after a crash. */
  learn(caller: Caller, agent: Agent, turn: LearnedTurn): void;
}
