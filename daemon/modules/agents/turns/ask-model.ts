import { AppError, asAppError } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { ChatMessage, ConverseWish, Reply } from '../../gateway/index.ts';
import type { TurnRow } from '../sessions/tables.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Compacting } from './compacting.ts';
import { estimateMessage } from './compaction/index.ts';
import type { TurnParts, TurnWork } from './parts.ts';
import { promptMessages } from './prompt.ts';
import { readAnswer } from './read-answer.ts';
import type { CallRow, MessageRow } from './tables.ts';

/** Failures after which another model may do better. */
const FALL_BACK_ON = [
  'rate_limited',
  'upstream_timeout',
  'upstream_failed',
  'upstream_down',
  'runtime_missing',
];
const TOO_LONG =
  /context (length|window|limit)|prompt is too long|too many (input )?tokens|maximum (context|input|number of) /i;

/** What the model has come to. */
export interface Answer {
  readonly text: string;
  readonly finishReason: string;
  readonly calls: number;
}

/** What the model is asked with. */
export interface Prompt {
  /** The turn as it stands. */
  readonly turn: TurnRow;
  readonly messages: readonly MessageRow[];
  /** False when the agent has called enough. */
  readonly mayCall: boolean;
}

/** Asks the model of a turn once, and writes down what it has answered. */
export class AskModel {
  constructor(
    private readonly parts: TurnParts,
    private readonly checkpoint: Checkpoint,
    private readonly compacting: Compacting,
  ) {}

  /**
   * Asks, by way of the fallback models when one fails. The answer, its calls and its tokens are on the disk when this returns, in one
   * commit with what `then` makes of it. Errors: those of the gateway; TurnGone.
   */
  async ask<T>(work: TurnWork, asked: Prompt, then: (answer: Answer) => T): Promise<T> {
    const { agent } = work.session;
    const models = [agent.model, ...agent.config.fallbackModels];
    let prompt = asked;
    for (let i = 0; ; i++) {
      const model = models[i] ?? agent.model;
      try {
        const reply = await this.attempt(work, model, prompt);
        this.compacting.answered(model, reply.model);
        return this.parts.log.commit(() => then(this.write(work, reply, i)));
      } catch (error) {
        const messages = isTooLong(error) && this.compacting.refused(work, prompt.turn, prompt.messages);
        if (messages) {
          prompt = { ...prompt, messages };
          i--;
          continue;
        }
        const next = models[i + 1];
        if (!isModelsFault(error, work) || (next === undefined && i === 0)) throw error;
        this.tellFallback(work, error, models, i);
        if (next === undefined) throw error;
      }
    }
  }

  private async attempt(work: TurnWork, model: string, prompt: Prompt): Promise<Reply> {
    const { log, converse } = this.parts;
    this.checkpoint.step(work, ({ tell }) => {
      tell({ type: 'llm.start' });
      return { isAsking: true };
    });
    const { id: sessionId } = work.session;
    const { number, options, caller } = work.turn;
    const wish = wishOf(work, model, prompt);
    const onText = (delta: string) => {
      if (!work.signal.aborted && !work.stopping.aborted) log.text(sessionId, number, delta);
    };
    try {
      const reply = await converse(caller, options.streams ? { ...wish, onText } : wish);
      if (!options.streams && typeof reply.message.content === 'string') onText(reply.message.content);
      return reply;
    } catch (error) {
      if (work.signal.aborted || work.stopping.aborted) throw error;
      this.checkpoint.step(work, ({ tell }) => {
        tell({ type: 'llm.end', finishReason: 'error', error: asAppError(error).message });
        return { isAsking: false };
      });
      throw error;
    }
  }

  private write(work: TurnWork, reply: Reply, attempt: number): Answer {
    const { session } = work;
    const { usage, finishReason, costMicros = 0 } = reply;
    let answer: Answer = { text: '', finishReason, calls: 0 };
    this.checkpoint.step(work, ({ turn, tell }) => {
      const { message, calls } = this.planned(turn, reply.message);
      const text = typeof message.content === 'string' ? message.content : '';
      answer = { text, finishReason, calls: calls.length };
      this.parts.store.addMessages(session.id, turn.number, [{ message, tokens: estimateMessage(message) }]);
      this.parts.store.insertCalls(calls);
      const [promptTokens, completionTokens] = [usage.input, usage.output];
      const taken = { steps: 1, promptTokens, completionTokens, costMicros };
      this.parts.sessions.spend(session.tenant, session.id, taken);
      if (attempt > 0)
        tell({ type: 'fallback.succeeded', fallbackToModel: reply.model, fallbackAttempt: attempt });
      tell({
        type: 'llm.end',
        finishReason,
        promptTokens,
        completionTokens,
        totalTokens: promptTokens + completionTokens,
      });
      return {
        isAsking: false,
        iteration: turn.iteration + 1,
        toolCalls: turn.toolCalls + calls.length,
        contextTokens: promptTokens + completionTokens,
        promptTokens: turn.promptTokens + promptTokens,
        completionTokens: turn.completionTokens + completionTokens,
        costMicros: turn.costMicros + costMicros,
      };
    });
    return answer;
  }

  /** The message as it is kept, and the rows of its calls. */
  private planned(turn: TurnRow, said: ChatMessage): { message: ChatMessage; calls: CallRow[] } {
    const now = this.parts.app.clock.now();
    const { message, calls } = readAnswer(said, () => newId('call', now));
    return { message, calls: calls.map((call, position) => newCall(turn, { ...call, position })) };
  }

  private tellFallback(work: TurnWork, error: unknown, models: readonly string[], i: number): void {
    this.checkpoint.step(work, ({ tell }) => {
      const words = asAppError(error).message;
      const [from, to] = [models[i], models[i + 1]];
      if (to === undefined)
        tell({ type: 'fallback.failed', fallbackFromModel: from, fallbackAttempt: i, error: words });
      else
        tell({
          type: 'fallback.triggered',
          fallbackFromModel: from,
          fallbackToModel: to,
          fallbackAttempt: i + 1,
          error: words,
        });
      return undefined;
    });
  }
}

function wishOf(
  { session, toolbox, signal, stopping }: TurnWork,
  model: string,
  { turn, messages, mayCall }: Prompt,
): ConverseWish {
  const { temperature, topP, maxTokens, reasoningEffort } = session.agent.config.model;
  const tools = [...toolbox.told];
  const request: ConverseWish['request'] = {
    model,
    messages: promptMessages(session, turn, messages),
    ...(tools.length > 0 ? { tools } : {}),
    ...(tools.length > 0 && !mayCall ? { tool_choice: 'none' } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
  };
  return { request, signal: AbortSignal.any([signal, stopping]) };
}

/** Providers say in words of their own that a conversation does not fit. */
function isTooLong(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== 'upstream_rejected') return false;
  const { code } = (error.data.said ?? {}) as { code?: string };
  return code === 'context_length_exceeded' || TOO_LONG.test(error.message);
}

function isModelsFault(error: unknown, { signal, stopping }: TurnWork): boolean {
  return (
    error instanceof AppError && FALL_BACK_ON.includes(error.code) && !signal.aborted && !stopping.aborted
  );
}

function newCall(
  { tenant, sessionId, number: turnNumber, iteration }: TurnRow,
  call: Pick<CallRow, 'id' | 'modelId' | 'position' | 'name' | 'args'>,
): CallRow {
  return {
    ...call,
    tenant,
    sessionId,
    turnNumber,
    iteration: iteration + 1,
    state: 'planned',
    reviewId: null,
    note: null,
    ok: null,
    output: null,
    startedAt: null,
    durationMs: null,
  };
}
