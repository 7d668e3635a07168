import { asAppError } from '../../../../src/errors/app-error.ts';
import type { NewEvent } from '../events/event.ts';
import type { Checkpoint } from './checkpoint.ts';
import {
  type CompactionPlan,
  estimateText,
  type Level,
  planCompaction,
  type Summary,
  summarise,
} from './compaction/index.ts';
import { TurnGone, type TurnParts, type TurnWork } from './parts.ts';
import { systemPrompt } from './prompt.ts';

/** The context of a model of which nobody knows it, and the largest of any, in tokens: a conversation is read whole at each step. */
const UNKNOWN_WINDOW = 500_000;
const LARGEST_WINDOW = 2_000_000;
/** Models of which it is remembered who has answered for them. */
const MOST_REMEMBERED = 1_000;

/** Keeps a conversation within what its model takes. */
export class Compacting {
  /** Which `provider/model` has answered for a name: an alias has no context window of its own. */
  private readonly answering = new Map<string, string>();
  /** Where a summary has failed: it is not tried again in the same work before the next level. */
  private readonly failedAt = new WeakMap<TurnWork, Level>();

  constructor(
    private readonly parts: TurnParts,
    private readonly checkpoint: Checkpoint,
  ) {}

  /** Notes who has answered for a name. */
  answered(name: string, model: string): void {
    if (this.answering.size >= MOST_REMEMBERED) this.answering.clear();
    this.answering.set(name, model);
  }

  /**
   * Before the model is asked: puts the beginning of a conversation that has grown too long in few words, or leaves it out. A summary
   * that fails is told, and the turn goes on. Errors: TurnGone; cancelled.
   */
  async before(work: TurnWork): Promise<void> {
    for (let plan = this.plan(work); plan; plan = this.plan(work)) {
      this.tell(work, { type: 'compaction.triggered' });
      if (plan.kind === 'cut') return this.apply(work, plan);
      if (await this.summarised(work, plan)) return;
      this.failedAt.set(work, plan.level);
    }
  }

  /** The model has refused a conversation as too long: leaves its beginning out. Answers false when there is nothing to leave out. */
  refused(work: TurnWork): boolean {
    const plan = this.plan(work, true);
    if (!plan) return false;
    this.tell(work, { type: 'compaction.triggered' });
    this.apply(work, plan);
    return true;
  }

  private plan(work: TurnWork, isRefused = false): CompactionPlan | undefined {
    const { session, turn, toolbox } = work;
    const now = this.parts.sessions.turn(session.tenant, session.id, turn.number) ?? turn;
    const fixed = systemPrompt(session, now.recalled).length + JSON.stringify(toolbox.told()).length;
    const failedAt = this.failedAt.get(work);
    return planCompaction({
      messages: this.parts.store.conversation(session.id),
      contextTokens: this.window(work),
      enabled: session.agent.config.compaction.enabled,
      fixedTokens: estimateText(fixed),
      takenTokens: now.contextTokens,
      isRefused,
      ...(failedAt === undefined ? {} : { failedAt }),
    });
  }

  private window({ session: { agent } }: TurnWork): number {
    const { contextTokens } = agent.config.compaction;
    const known = contextTokens || this.parts.contextWindow(this.answering.get(agent.model) ?? agent.model);
    return Math.min(known || UNKNOWN_WINDOW, LARGEST_WINDOW);
  }

  private async summarised(work: TurnWork, plan: CompactionPlan): Promise<boolean> {
    const { session, turn, signal, stopping } = work;
    const { model } = session.agent.config.compaction;
    try {
      const summary = await summarise(this.parts.converse, {
        caller: turn.caller,
        model: model === '' ? session.agent.model : model,
        plan,
        contextTokens: this.window(work),
        signal: AbortSignal.any([signal, stopping]),
      });
      this.apply(work, plan, summary);
      return true;
    } catch (error) {
      if (error instanceof TurnGone || signal.aborted || stopping.aborted) throw error;
      this.tell(work, { type: 'compaction.failed', error: asAppError(error).message });
      return false;
    }
  }

  private apply(work: TurnWork, { removed, at }: CompactionPlan, summary?: Summary): void {
    const { tenant, id } = work.session;
    this.checkpoint.step(work, ({ turn, tell }) => {
      const seqs = removed.map(({ seq }) => seq);
      const turnNumber = turn.number;
      this.parts.store.replaceMessages(id, seqs, summary && { seq: at, turnNumber, ...pick(summary) });
      const [promptTokens, completionTokens] = [summary?.usage.input ?? 0, summary?.usage.output ?? 0];
      const costMicros = summary?.costMicros ?? 0;
      const taken = { steps: 0, promptTokens, completionTokens, costMicros };
      this.parts.sessions.spend(tenant, id, taken);
      tell({ type: 'compaction.applied', promptTokens, completionTokens });
      return {
        contextTokens: 0,
        promptTokens: turn.promptTokens + promptTokens,
        completionTokens: turn.completionTokens + completionTokens,
        costMicros: turn.costMicros + costMicros,
      };
    });
  }

  private tell(work: TurnWork, event: NewEvent): void {
    this.checkpoint.step(work, ({ tell }) => {
      tell(event);
      return undefined;
    });
  }
}

const pick = ({ message, tokens }: Summary) => ({ message, tokens });
