import { agentReviews } from '../../../src/api/agents/reviews.ts';
import type { Client } from '../../../src/client/client.ts';
import type { Cli } from '../../cli.ts';
import { wrap } from '../../ui/live-screen.ts';
import { relativeTime } from '../../ui/time.ts';
import { decide } from '../review/decide.ts';
import { riskText, type ShownReview, showReview } from '../review/shown.ts';
import { cut, harmless } from '../session/call-text.ts';
import type { Approval } from './chat-state.ts';

/** Calls of a review that are asked for one by one. */
interface OneByOne {
  readonly reviewId: string;
  readonly denied: readonly string[];
  /** The call that is asked for. */
  readonly at: number;
}

const LONGEST_NAME = 40;
const INDENT = '  ';

/** Asks for leave, where the person sits. A word decides, and no other word does. */
export class ApprovalDesk {
  private singly: OneByOne | undefined;

  constructor(
    private readonly cli: Cli,
    private readonly client: Client,
  ) {}

  /** What stands before the decision that is typed. */
  prompt({ reviewId, calls }: Approval): string {
    const { singly } = this;
    if (singly?.reviewId === reviewId)
      return `${singly.at + 1} of ${calls.length}, ${cut(harmless(calls[singly.at]?.name ?? ''), LONGEST_NAME)}: [y]es [n]o › `;
    return calls.length > 1 ? 'all: [y]es [n]o WHY [e]ach [v]iew › ' : '[y]es [n]o WHY [v]iew › ';
  }

  /** Says what is known besides the calls. */
  async announce({ reviewId }: Approval): Promise<void> {
    const review = await this.review(reviewId);
    const facts = [
      review.note ? harmless(review.note) : '',
      riskText(review) && `risk: ${riskText(review)}`,
      `expires ${relativeTime(review.expiresAt)}, then ${review.defaultAction}`,
    ];
    const columns = this.cli.terminal.err.columns - INDENT.length;
    for (const row of wrap(facts.filter(Boolean).join(' · '), columns)) this.say(INDENT + row);
  }

  /** Does what was typed. Errors: those of SubmitReview. */
  async take(approval: Approval, line: string): Promise<void> {
    const [, word = '', why] = /^\s*(y|yes|n|no|e|each|v|view)(?:\s+(.*))?$/is.exec(line) ?? [];
    const letter = word.charAt(0).toLowerCase();
    const { reviewId, calls } = approval;
    if (letter === 'v') showReview(this.cli, await this.review(reviewId));
    else if (this.singly?.reviewId === reviewId && (letter === 'y' || letter === 'n'))
      await this.next(approval, this.singly, letter === 'y');
    else if (letter === 'y') await decide(this.client, reviewId, { action: 'approve', note: why });
    else if (letter === 'n') await decide(this.client, reviewId, { action: 'deny', note: why });
    else if (letter === 'e' && calls.length > 1) this.singly = { reviewId, denied: [], at: 0 };
    else this.say('  y, n or v decides or shows; /steer TEXT says something to the agent');
  }

  private async next({ reviewId, calls }: Approval, { denied, at }: OneByOne, isYes: boolean): Promise<void> {
    const except = isYes ? denied : [...denied, calls[at]?.id ?? ''];
    if (at + 1 < calls.length) {
      this.singly = { reviewId, denied: except, at: at + 1 };
      return;
    }
    this.singly = undefined;
    const isNone = except.length === calls.length;
    await decide(this.client, reviewId, isNone ? { action: 'deny' } : { action: 'approve', except });
  }

  private async review(reviewId: string): Promise<ShownReview> {
    const { review = {} } = await this.client.call(agentReviews.GetReview, {
      params: { reviewId },
      query: {},
    });
    return review;
  }

  private say(line: string): void {
    this.cli.terminal.note(this.cli.terminal.err.style.dim(line));
  }
}
