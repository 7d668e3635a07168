import { asAppError } from '../../../../src/errors/app-error.ts';
import type { NewEvent } from '../events/event.ts';
import type { TurnRow } from '../sessions/tables.ts';
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
import type { MessageRow } from './tables.ts';

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
   * The conversation as the model is to be told of it: the beginning of one that has grown too long is put in few words first, or
   * left out. A summary that fails is told, and the turn goes on. Errors: TurnGone; cancelled.
   */
  async fitting(work: TurnWork, turn: TurnRow): Promise<readonly MessageRow[]> {
    const messages = this.parts.store.conversation(work.session.id);
    for (let plan = this.plan(work, turn, messages); plan; plan = this.plan(work, turn, messages)) {
      this.tell(work, { type: 'compaction.triggered' });
      if (plan.kind === 'cut') this.apply(work, plan);
      if (plan.kind === 'cut' || (await this.summarised(work, plan)))
        return this.parts.store.conversation(work.session.id);
      this.failedAt.set(work, plan.level);
    }
    return messages;
  }

  /** What is left of a conversation that the model has refused as too long; undefined when nothing can be left out. */
  refused(work: TurnWork, turn: TurnRow, messages: readonly MessageRow[]): readonly MessageRow[] | undefined {
    const plan = this.plan(work, turn, messages, true);
    if (!plan) return undefined;
    this.tell(work, { type: 'compaction.triggered' });
    this.apply(work, plan);
    return this.parts.store.conversation(work.session.id);
  }

  private plan(
    work: TurnWork,
    { recalled, contextTokens: takenTokens }: TurnRow,
    messages: readonly MessageRow[],
    isRefused = false,
  ): CompactionPlan | undefined {
    const { session, toolbox } = work;
    const fixed = systemPrompt(session, recalled).length + toolbox.toldLength;
    const failedAt = this.failedAt.get(work);
    return planCompaction({
      messages,
      contextTokens: this.window(work),
      enabled: session.agent.config.compaction.enabled,
      fixedTokens: estimateText(fixed),
      takenTokens,
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
