import type { Checkpoint } from '../checkpoint.ts';
import { tellResults } from '../ending.ts';
import type { TurnParts, TurnWork } from '../parts.ts';
import type { CallRow } from '../tables.ts';
import { CarryOut, UNKNOWN } from './carry-out.ts';
import { endEvent, startEvent } from './events.ts';
import { decisionOf } from './reviewed.ts';
import { Triage } from './triage.ts';

/** Calls that only look, and go on at once. */
const MOST_AT_ONCE = 8;
const CUT_OFF =
  'svc ended while this call ran, and nobody knows whether it had its effect. Approve: it is carried out again.';

/** Takes the calls of an answer from plan to result. */
export class CallStep {
  private readonly triage: Triage;
  private readonly carryOut: CarryOut;

  constructor(
    private readonly parts: TurnParts,
    private readonly checkpoint: Checkpoint,
  ) {
    this.triage = new Triage(parts, checkpoint);
    this.carryOut = new CarryOut(parts, checkpoint);
  }

  /**
   * Goes on with the calls of the last answer as far as they go: one thing with each look at the rows, so that a turn that
   * was cut off anywhere goes on the same way. Answers `waits` when a person is needed, `none` when nothing is left.
   */
  async next(work: TurnWork): Promise<'went on' | 'waits' | 'none'> {
    const calls = this.open(work);
    const inState = (state: CallRow['state']) => calls.filter((call) => call.state === state);
    if (calls.length === 0) return 'none';
    if (inState('asking').length > 0) return 'waits';
    const planned = inState('planned');
    if (planned.length > 0) {
      this.triage.decide(work, planned);
      return inStateNow(this.open(work), 'reviewed') ? 'waits' : 'went on';
    }
    const reviewed = inState('reviewed');
    if (reviewed.length > 0) return this.takeDecisions(work, reviewed);
    const [cut] = inState('running');
    if (cut) return this.takeUp(work, cut);
    const ready = inState('ready');
    if (ready.length > 0) return this.carry(work, ready);
    this.checkpoint.step(work, ({ turn }) => {
      tellResults(this.parts, turn);
      return undefined;
    });
    return 'went on';
  }

  private open({ session, turn }: TurnWork): CallRow[] {
    const now = this.parts.sessions.turn(session.tenant, session.id, turn.number);
    const iteration = now?.iteration ?? 0;
    const calls = this.parts.store.callsOf(session.tenant, session.id, turn.number, iteration);
    return calls.filter(({ state }) => state !== 'told');
  }

  private takeDecisions(work: TurnWork, reviewed: readonly CallRow[]): 'went on' | 'waits' {
    const { session } = work;
    const reviewId = reviewed[0]?.reviewId ?? '';
    const review = this.parts.reviews.find(session.tenant, reviewId);
    if (review?.status === 'pending') return 'waits';
    this.checkpoint.step(work, ({ tell }) => {
      for (const call of reviewed.filter((one) => one.reviewId === reviewId)) {
        const { action, reason } = decisionOf(review, call);
        if (action === 'approve') this.parts.store.changeCall(call, ['reviewed'], { state: 'ready' });
        else {
          const outcome = { ok: false, output: denial(call, reason) };
          this.parts.store.changeCall(call, ['reviewed'], { state: 'finished', ...outcome, durationMs: 0 });
          tell(startEvent(call), endEvent(call, outcome, 0));
        }
      }
      return undefined;
    });
    return 'went on';
  }

  private async takeUp(work: TurnWork, cut: CallRow): Promise<'went on' | 'waits'> {
    if ((await this.carryOut.recover(work, cut)) !== UNKNOWN) return 'went on';
    this.checkpoint.step(work, (step) => this.triage.openReview(work, step, [cut], CUT_OFF));
    return 'waits';
  }

  /** Carries out the first call that is left, and those after it that may go on beside it. */
  private async carry(work: TurnWork, ready: readonly CallRow[]): Promise<'went on' | 'waits'> {
    const [first] = ready;
    if (!first) return 'went on';
    if (work.toolbox.find(first.name)?.asks) return this.ask(work, first);
    const beside = ready.findIndex((call) => !this.isBeside(work, call));
    const count = Math.min(Math.max(beside === -1 ? ready.length : beside, 1), MOST_AT_ONCE);
    const results = await Promise.allSettled(
      ready.slice(0, count).map((call) => this.carryOut.run(work, call)),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return 'went on';
  }

  private isBeside({ toolbox }: TurnWork, { name }: CallRow): boolean {
    const tool = toolbox.find(name);
    return tool?.isRead === true || tool?.isParallel === true;
  }

  private ask(work: TurnWork, call: CallRow): 'waits' {
    this.checkpoint.step(work, ({ tell, session }) => {
      const startedAt = this.parts.app.clock.now();
      this.parts.store.changeCall(call, ['ready'], { state: 'asking', startedAt });
      tell(startEvent(call), {
        type: 'user_input.requested',
        userInputId: call.id,
        toolCallId: call.id,
        toolName: call.name,
        toolArgs: call.args,
      });
      session({ status: 'waiting_for_input' });
      return { status: 'waiting' };
    });
    return 'waits';
  }
}

const inStateNow = (calls: readonly CallRow[], state: CallRow['state']) =>
  calls.some((call) => call.state === state);

/** A call that had been cut off and may not be carried out again has come to nobody knows what. */
function denial({ startedAt }: CallRow, reason: string): string {
  const why = reason === '' ? '' : ` Reason: ${reason}.`;
  return startedAt === null
    ? `Denied: this call was not carried out.${why} Do not try it again; find another way or ask.`
    : `The outcome of this call is unknown: svc ended while it ran, and it was not carried out again.${why}`;
}
