import { AppError, asAppError } from '../../../../src/errors/app-error.ts';
import type { Review } from '../reviews/face.ts';
import type { TurnRow } from '../sessions/tables.ts';
import { AskModel } from './ask-model.ts';
import { CallStep } from './calls/call-step.ts';
import { Checkpoint } from './checkpoint.ts';
import { Compacting } from './compacting.ts';
import { Endings } from './ending.ts';
import { MOST_TURN_MS, TurnLoop } from './loop.ts';
import { TurnGone, type TurnParts, TurnTooLong, type TurnWork } from './parts.ts';
import { Toolbox } from './toolbox.ts';

/** How long an orderly end waits for tools that could not be taken up again. */
const STOP_MS = 5_000;
const TOO_LONG = 'The turn has worked for 30 minutes, the most that one may.';
const SEARCH_TOOLS = ['web_search', 'web_fetch'];

interface Running {
  readonly cancel: AbortController;
  done: Promise<void>;
  /** Something has happened meanwhile that the loop may not have seen. */
  again: boolean;
}

/** Works on the turns that are under way: one loop each, begun anew from the rows whenever there is something to do. */
export class TurnRunner {
  private readonly running = new Map<string, Running>();
  private readonly stopping = new AbortController();
  private readonly left = new AbortController();
  private readonly loop: TurnLoop;
  readonly endings: Endings;

  constructor(
    private readonly parts: TurnParts,
    /** Told when a turn is over, after its commit. */
    private readonly over: (tenant: string, sessionId: string) => void,
  ) {
    const checkpoint = new Checkpoint(parts);
    this.endings = new Endings(parts, checkpoint);
    const compacting = new Compacting(parts, checkpoint);
    this.loop = new TurnLoop(parts, {
      checkpoint,
      calls: new CallStep(parts, checkpoint),
      model: new AskModel(parts, checkpoint, compacting),
      compacting,
      endings: this.endings,
    });
  }

  /** Works on a session's turn, if there is something to do. */
  wake(tenant: string, sessionId: string): void {
    if (this.stopping.signal.aborted) return;
    const running = this.running.get(sessionId);
    if (running) {
      running.again = true;
      return;
    }
    const entry: Running = { cancel: new AbortController(), done: Promise.resolve(), again: false };
    this.running.set(sessionId, entry);
    entry.done = this.run(tenant, sessionId, entry).catch((error) =>
      this.parts.app.log.error('a turn was left: the next start takes it up', { session: sessionId, error }),
    );
  }

  /** Lets the model and the tools of a session go. Its rows say already that its turn is over. */
  cancel(sessionId: string): void {
    this.running.get(sessionId)?.cancel.abort(new TurnGone());
  }

  /** A review has been decided, or has expired: its session goes on. */
  settled(review: Review): void {
    const { log, sessions } = this.parts;
    const { tenant, sessionId, turnNumber, id: reviewId, status } = review;
    const action = status === 'approved' || status === 'denied' ? status : review.defaultAction;
    const went = log.commit(() => {
      const turn = sessions.turn(tenant, sessionId, turnNumber);
      if (turn?.status !== 'waiting' || !this.waitsFor(turn, reviewId)) return false;
      sessions.changeTurn(turn, ['waiting'], { status: 'running' });
      sessions.change(tenant, sessionId, { status: 'running', updatedAt: this.parts.app.clock.now() });
      log.append(sessionId, turnNumber, {
        type: 'approval.resolved',
        reviewId,
        approvalAction: ACTIONS[action] ?? action,
      });
      return true;
    });
    if (went) this.wake(tenant, sessionId);
  }

  /** Takes no new steps and leaves models; waits a moment for tools, and leaves the rest to the next process. */
  async stop(graceMs = STOP_MS): Promise<void> {
    this.stopping.abort(new Error('svc is stopping'));
    const all = Promise.allSettled([...this.running.values()].map(({ done }) => done));
    await Promise.race([all, Bun.sleep(graceMs)]);
    this.left.abort();
    this.parts.log.flush();
  }

  private waitsFor({ tenant, sessionId, number, iteration }: TurnRow, reviewId: string): boolean {
    const calls = this.parts.store.callsOf(tenant, sessionId, number, iteration);
    return calls.some((call) => call.state === 'reviewed' && call.reviewId === reviewId);
  }

  private async run(tenant: string, sessionId: string, entry: Running): Promise<void> {
    try {
      do {
        entry.again = false;
        const turn = this.parts.sessions.current(tenant, sessionId);
        if (turn?.status === 'running') await this.workOn(turn, entry);
      } while (entry.again && !entry.cancel.signal.aborted && !this.stopping.signal.aborted);
    } finally {
      this.running.delete(sessionId);
    }
    if (this.stopping.signal.aborted) return;
    if (entry.again) this.wake(tenant, sessionId);
    else this.over(tenant, sessionId);
  }

  private async workOn(turn: TurnRow, { cancel }: Running): Promise<void> {
    const limit = new AbortController();
    const work = this.workOf(turn, AbortSignal.any([cancel.signal, limit.signal]));
    if (!work) return;
    const left = Math.max(MOST_TURN_MS - turn.activeMs, 0);
    const timer = setTimeout(() => limit.abort(new TurnTooLong(TOO_LONG)), left);
    try {
      await this.loop.work(work);
    } catch (error) {
      if (error instanceof TurnGone || this.stopping.signal.aborted) return;
      this.failed(work, error);
    } finally {
      clearTimeout(timer);
      this.parts.log.dropText(turn.sessionId);
    }
  }

  private failed(work: TurnWork, error: unknown): void {
    const { tenant, id: session } = work.session;
    if (!(error instanceof AppError || error instanceof TurnTooLong))
      this.parts.app.log.error('a turn failed', { tenant, session, error });
    try {
      this.endings.fail(work, error instanceof TurnTooLong ? error.message : wordsOf(error));
    } catch (again) {
      if (!(again instanceof TurnGone))
        this.parts.app.log.error('the failure of a turn could not be written', { session, error: again });
    }
  }

  private workOf(turn: TurnRow, signal: AbortSignal): TurnWork | undefined {
    const session = this.parts.sessions.find(turn.tenant, turn.sessionId);
    if (!session) return undefined;
    const begun = performance.now();
    const names = turn.options.searches ? [...session.agent.tools, ...SEARCH_TOOLS] : session.agent.tools;
    return {
      session,
      turn,
      toolbox: new Toolbox(this.parts.sources, session.agent, [...new Set(names)]),
      signal,
      stopping: this.stopping.signal,
      left: this.left.signal,
      elapsedMs: () => performance.now() - begun,
    };
  }
}

const ACTIONS: Readonly<Record<string, string>> = { approved: 'approve', denied: 'deny' };

/** What is shown of a failure: its message and what to do next. */
function wordsOf(error: unknown): string {
  const { message, hint } = asAppError(error);
  return [message, hint].filter(Boolean).join(' ');
}
