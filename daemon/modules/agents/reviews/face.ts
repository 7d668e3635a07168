import type { Agent } from '../definitions/agent.ts';
import type { Tool } from '../tools/tool.ts';

/** A call of a tool that waits for a decision. */
export interface ReviewedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** JSON text, exactly as it will be carried out. */
  readonly toolArgs: string;
  /** SHA-256 of `toolName`, a newline and `toolArgs`, in hex: the decision holds for these bytes alone. */
  readonly argsHash: string;
}

/** A review that is to be opened. */
export interface NewReview {
  readonly tenant: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly turnNumber: number;
  /** The how-manieth call of the model in its turn. */
  readonly iteration: number;
  readonly calls: readonly ReviewedCall[];
  readonly timeoutMs: number;
  readonly defaultAction: 'approve' | 'deny';
  /** Why it is asked, where that is not a rule: for a person. */
  readonly note?: string;
}

/** What was decided about one call. */
export interface CallDecision {
  readonly toolCallId: string;
  readonly argsHash: string;
  readonly action: 'approve' | 'deny';
  readonly reason: string;
}

/** A review that is over, or not yet. */
export interface Review extends NewReview {
  readonly id: string;
  readonly status: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';
  /** One for each call as soon as it is approved, denied or expired; else empty. */
  readonly decisions: readonly CallDecision[];
  readonly requestedAt: number;
  readonly expiresAt: number;
}

/** Reviews, as the turn loop uses them. All calls are synchronous and take part in the caller's transaction. */
export interface Reviews {
  /** Opens one. Answers its id. */
  open(review: NewReview): string;
  find(tenant: string, id: string): Review | undefined;
  /** Ends those of a session that are open, undecided. */
  cancel(tenant: string, sessionId: string): void;
  /** Says that a review has been decided or has expired, after it is on the disk. Also at start, for those that expired meanwhile. */
  onSettled(listener: (review: Review) => void): void;
}

/** What an agent's settings say about a call. */
export type Permission = 'run' | 'ask' | 'refuse';

/** Decides whether a call of a tool is carried out, asked about, or refused. */
export type Policy = (agent: Agent, tool: Pick<Tool, 'name' | 'isRead' | 'asks'>) => Permission;
