import { formatDuration } from '../../../src/kit/duration.ts';
import { SECOND_MS } from '../../../src/kit/time.ts';
import { questionOf } from '../session/event-view.ts';
import type { AgentEvent } from '../session/feed.ts';

/** Calls that wait for leave. */
export interface Approval {
  readonly reviewId: string;
  /** Whose they are: this session, or one of an agent that it has started. */
  readonly sessionId: string;
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly args: string }>;
}

/** How a session stands, as its events tell. */
export class ChatState {
  /** When the turn that is under way has begun, by `performance.now`; undefined between turns. */
  runningSince: number | undefined;
  /** The answers to choose from, while the agent waits for one. */
  options: readonly string[] | undefined;
  /** What waits for leave, the oldest first. */
  approvals: readonly Approval[] = [];
  /** The session takes no more turns. */
  isOver = false;
  /** What the agent does, in a few words. */
  doing = '';

  constructor(readonly sessionId: string) {}

  /** Takes an event of this session. */
  take(event: AgentEvent): void {
    this.takeApproval(this.sessionId, event);
    switch (event.type) {
      case 'turn.start':
        this.begins();
        break;
      case 'llm.start':
        this.doing = 'thinks';
        break;
      case 'llm.chunk':
        this.doing = 'answers';
        break;
      case 'sandbox.create':
        this.doing = 'makes a sandbox';
        break;
      case 'user_input.requested':
        this.options = questionOf(event).options;
        break;
      case 'user_input.received':
        this.options = undefined;
        break;
      case 'turn.end':
        [this.runningSince, this.options, this.doing] = [undefined, undefined, ''];
        break;
      case 'session.end':
        this.isOver = true;
        break;
    }
  }

  /** Takes what an event says about leave, also one of a session below this one. */
  takeApproval(sessionId: string, { type, reviewId = '', pendingToolCalls = [] }: AgentEvent): void {
    const others = (isIt: (one: Approval) => boolean) => this.approvals.filter((one) => !isIt(one));
    if (type === 'approval.requested') {
      const calls = pendingToolCalls.map(({ toolCallId = '', toolName = '', toolArgs = '' }) => {
        return { id: toolCallId, name: toolName, args: toolArgs };
      });
      this.approvals = [...others((one) => one.reviewId === reviewId), { reviewId, sessionId, calls }];
    } else if (type === 'approval.resolved') this.approvals = others((one) => one.reviewId === reviewId);
    else if (type === 'approval.cancelled' || type === 'turn.end')
      this.approvals = others((one) => one.sessionId === sessionId);
  }

  /** A turn begins, or is about to. */
  begins(): void {
    this.runningSince ??= performance.now();
    this.doing = 'begins';
  }

  /** How long the turn has worked, for people; empty in its first second. */
  elapsed(): string {
    const ms = performance.now() - (this.runningSince ?? performance.now());
    return ms < SECOND_MS ? '' : formatDuration(Math.floor(ms / SECOND_MS) * SECOND_MS).replace('.0 s', ' s');
  }
}
