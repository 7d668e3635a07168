import type { ApprovalReview } from '../../../src/api/agents/reviews.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { AgentClient } from '../agent-client.ts';
import type { Dice } from './deeds.ts';
import { persist } from './persist.ts';

type Review = Value<typeof ApprovalReview>;

/** Somebody who approves what rules have asked about, and denies what may have happened already. */
export class Reviewer {
  /** Ids of effects of which nobody knows whether they were had: they were asked about, and not had again. */
  readonly unknown = new Map<string, string>();
  private isOver = false;

  constructor(
    private readonly agents: AgentClient,
    private readonly dice: Dice,
  ) {}

  /** Decides a review, soon. The same decision may be made several times. */
  async decide(reviewId: string): Promise<void> {
    await Bun.sleep(this.dice(250));
    const path = `/v1/agents/reviews/${reviewId}`;
    const { body } = await persist(() => this.agents.ask<{ review: Review }>('GET', path));
    const { note, toolCalls = [] } = body.review;
    if (note)
      for (const { toolName = '', toolArgs = '' } of toolCalls) this.unknown.set(idIn(toolArgs), toolName);
    const action = `APPROVAL_ACTION_${note ? 'DENY' : 'APPROVE'}`;
    const { status } = await persist(() => this.agents.ask('POST', `${path}/submit`, { action }));
    if (status === 200) return;
    const { body: now } = await persist(() => this.agents.ask<{ review: Review }>('GET', path));
    if (now.review.status !== 'APPROVAL_REVIEW_STATUS_CANCELLED')
      throw new Error(`the decision about ${reviewId} was answered ${status}`);
  }

  /** Decides what nobody watches: the reviews of sub-agents. */
  async watch(): Promise<void> {
    while (!this.isOver) {
      const path = '/v1/agents/reviews?status=APPROVAL_REVIEW_STATUS_PENDING&limit=100';
      const { body } = await persist(() => this.agents.ask<{ reviews?: Review[] }>('GET', path));
      await Promise.all((body.reviews ?? []).map(({ id = '' }) => this.decide(id)));
      await Bun.sleep(250);
    }
  }

  stop(): void {
    this.isOver = true;
  }
}

function idIn(args: string): string {
  const { id, command, task, content } = JSON.parse(args) as Record<string, string | undefined>;
  const text = command ?? task ?? content ?? '';
  return (
    id ?? /echo did (\S+)|child of (\S+)|This is about (\S+)\./.exec(text)?.slice(1).find(Boolean) ?? args
  );
}
