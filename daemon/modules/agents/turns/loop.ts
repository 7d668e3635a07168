import { MINUTE_MS } from '../../../../src/kit/time.ts';
import type { TurnRow } from '../sessions/tables.ts';
import type { Answer, AskModel } from './ask-model.ts';
import type { CallStep } from './calls/call-step.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Compacting } from './compacting.ts';
import { estimateMessage } from './compaction/index.ts';
import type { Endings, FinishReason } from './ending.ts';
import { TurnGone, type TurnParts, type TurnWork } from './parts.ts';

/** The longest work of a turn, waiting for people left out (behaviour, Turn loop). */
export const MOST_TURN_MS = 30 * MINUTE_MS;
/** Answers with calls of one turn. */
const MOST_CYCLES = 200;

/** What the loop consists of. */
export interface LoopSteps {
  readonly checkpoint: Checkpoint;
  readonly calls: CallStep;
  readonly model: AskModel;
  readonly compacting: Compacting;
  readonly endings: Endings;
}

/** The loop of a turn: the model, its calls, the model again. Where it stands is in the rows alone. */
export class TurnLoop {
  constructor(
    private readonly parts: TurnParts,
    private readonly steps: LoopSteps,
  ) {}

  /** Works until the turn is over or waits for a person. Errors: those of the gateway; TurnGone; the signal's reason. */
  async work(work: TurnWork): Promise<void> {
    this.closeCutAnswer(work);
    await this.recall(work);
    for (;;) {
      work.signal.throwIfAborted();
      work.stopping.throwIfAborted();
      const went = await this.steps.calls.next(work);
      if (went === 'waits') return;
      if (went === 'none' && (await this.ask(work)) === 'over') return;
    }
  }

  /** A call of the model that the end of the daemon has cut off is begun anew; those who watch hear so. */
  private closeCutAnswer(work: TurnWork): void {
    if (!work.turn.isAsking) return;
    this.steps.checkpoint.step(work, ({ turn, tell }) => {
      if (!turn.isAsking) return undefined;
      tell({ type: 'llm.end', finishReason: 'interrupted' });
      return { isAsking: false };
    });
  }

  /** Looks up what the agent may know about the input, once a turn. */
  private async recall(work: TurnWork): Promise<void> {
    const { session, turn, signal } = work;
    const { memory } = session.agent;
    if (turn.recalled !== null || !memory.enabled || !memory.autoRetrieve) return;
    const { memories, memoryPrompt } = this.parts;
    const wish = { query: turn.userInput, topK: memory.autoRetrieveTopK, signal };
    const recalled = memoryPrompt(await memories.recall(turn.caller, session.agent, wish));
    this.steps.checkpoint.step(work, () => ({ recalled }));
  }

  private async ask(work: TurnWork): Promise<'over' | 'goes on'> {
    this.takeSteers(work);
    const turn = this.now(work);
    const { maxSteps, maxToolCallsPerTurn } = work.session.agent;
    if (maxSteps > 0 && this.stepsOf(work) >= maxSteps) return this.stop(work, 'max_steps');
    const messages = await this.steps.compacting.fitting(work, turn);
    const mayCall =
      turn.iteration < MOST_CYCLES && (maxToolCallsPerTurn === 0 || turn.toolCalls < maxToolCallsPerTurn);
    const prompt = { turn, messages, mayCall };
    return this.steps.model.ask(work, prompt, (answer) => this.judge(work, answer, mayCall));
  }

  /** Calls of the model in this session so far. */
  private stepsOf({ session: { tenant, id } }: TurnWork): number {
    return this.parts.sessions.find(tenant, id)?.steps ?? 0;
  }

  /** Whether an answer is the last one. In its commit. */
  private judge(work: TurnWork, { text, calls, finishReason }: Answer, mayCall: boolean): 'over' | 'goes on' {
    if (calls > 0 && mayCall) return 'goes on';
    if (calls > 0) return this.stop(work, 'max_tool_calls');
    if (this.parts.sessions.countSteers(work.session.id) > 0) return 'goes on';
    const reason = mayCall || finishReason !== 'stop' ? finishReason : 'max_tool_calls';
    this.steps.endings.complete(work, { output: text, finishReason: reason });
    return 'over';
  }

  private stop(work: TurnWork, finishReason: FinishReason): 'over' {
    this.parts.log.commit(() => {
      this.steps.checkpoint.step(work, (step) => {
        this.steps.endings.answerOpenCalls(step.turn, 'Not carried out: the limit of this turn is reached.');
        return undefined;
      });
      this.steps.endings.complete(work, { output: this.lastWords(work.turn), finishReason });
    });
    return 'over';
  }

  /** What the agent has said last in this turn. */
  private lastWords({ sessionId, number }: TurnRow): string {
    const said = this.parts.store
      .conversation(sessionId)
      .findLast(({ turnNumber, message }) => turnNumber === number && message.role === 'assistant');
    return typeof said?.message.content === 'string' ? said.message.content : '';
  }

  /** Words that have come since the last step join the conversation. */
  private takeSteers(work: TurnWork): void {
    if (this.parts.sessions.countSteers(work.session.id) === 0) return;
    this.steps.checkpoint.step(work, ({ turn, tell }) => {
      const steers = this.parts.sessions.takeSteers(work.session.id);
      const messages = steers.map(({ role, content }) => {
        const message = { role, content };
        return { message, tokens: estimateMessage(message) };
      });
      this.parts.store.addMessages(work.session.id, turn.number, messages);
      for (const { content } of steers) tell({ type: 'steer.received', textDelta: content });
      return undefined;
    });
  }

  private now({ session, turn }: TurnWork): TurnRow {
    const now = this.parts.sessions.turn(session.tenant, session.id, turn.number);
    if (!now) throw new TurnGone();
    return now;
  }
}
