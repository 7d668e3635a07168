import type { App } from '../../../app.ts';
import type { Converse } from '../../gateway/index.ts';
import type { EventLog } from '../events/log.ts';
import type { AgentMemories } from '../memories/face.ts';
import type { Policy, Reviews } from '../reviews/face.ts';
import type { SessionStore } from '../sessions/store.ts';
import type { SessionRow, TurnRow } from '../sessions/tables.ts';
import type { ToolContext, ToolSource } from '../tools/tool.ts';
import type { TurnStore } from './store.ts';
import type { Toolbox } from './toolbox.ts';

/** What turns are made with. */
export interface TurnParts {
  readonly app: Pick<App, 'clock' | 'log'>;
  readonly log: EventLog;
  readonly sessions: SessionStore;
  readonly store: TurnStore;
  readonly converse: Converse;
  /** Tokens that a model takes; undefined when that is not known. */
  readonly contextWindow: (model: string) => number | undefined;
  readonly reviews: Reviews;
  readonly policy: Policy;
  readonly sources: readonly ToolSource[];
  /** Cuts a result to what a model is given, and keeps the whole of it. */
  readonly cap: (context: Pick<ToolContext, 'caller' | 'sessionId' | 'callId'>, output: string) => string;
  readonly memories: AgentMemories;
  readonly memoryPrompt: (recalled: Awaited<ReturnType<AgentMemories['recall']>>) => string;
}

/** A turn while this process works on it. */
export interface TurnWork {
  readonly session: SessionRow;
  /** As it was when the work was taken up: what changes is read from its rows at each step. */
  readonly turn: TurnRow;
  readonly toolbox: Toolbox;
  /** Fires when the turn is cancelled or its time is over. */
  readonly signal: AbortSignal;
  /** Fires when the daemon ends: models are left, tools are not. */
  readonly stopping: AbortSignal;
  /** Fires when other modules end too: what a tool says from then on may be their end and not its own, and is not written. */
  readonly left: AbortSignal;
  /** Milliseconds of work since it was taken up. */
  readonly elapsedMs: () => number;
}

/** Thrown in the work of a turn that is no longer under way here: it was cancelled, its session is gone, or the daemon ends. */
export class TurnGone extends Error {}

/** The reason of a signal that fires when a turn has worked for too long. */
export class TurnTooLong extends Error {}
