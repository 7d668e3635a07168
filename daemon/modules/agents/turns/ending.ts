import type { SessionState, TurnRow } from '../sessions/tables.ts';
import { turnWire } from '../sessions/wire.ts';
import { endEvent } from './calls/events.ts';
import type { Checkpoint } from './checkpoint.ts';
import { estimateMessage } from './compaction/index.ts';
import type { TurnParts, TurnWork } from './parts.ts';

/** How a turn has ended well. */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'max_steps' | 'max_tool_calls';

/** With what a turn ends. */
export interface Ending {
  readonly output: string;
  readonly finishReason: string;
}

/** Ends turns: each once, in one commit with everything that follows from it. */
export class Endings {
  constructor(
    private readonly parts: TurnParts,
    private readonly checkpoint: Checkpoint,
  ) {}

  /** The agent has answered, or a limit has stopped it. */
  complete(work: TurnWork, { output, finishReason }: Ending): void {
    const { app, memories } = this.parts;
    this.checkpoint.step(work, ({ turn, tell, session }) => {
      const over = { status: 'completed' as const, output, completedAt: app.clock.now() };
      const { agent, id: sessionId } = work.session;
      if (agent.memory.enabled && agent.memory.autoExtract)
        memories.learn(turn.caller, agent, {
          sessionId,
          turnNumber: turn.number,
          userInput: turn.userInput,
        });
      session({ status: 'running' });
      tell({ type: 'turn.end', finishReason, ...tokensOf({ ...turn, ...over }), ...this.shown(turn, over) });
      return over;
    });
  }

  /** Something has failed that the agent cannot go on without. */
  fail(work: TurnWork, error: string): void {
    const { app } = this.parts;
    this.checkpoint.step(work, ({ turn, tell, session }) => {
      const over = { status: 'failed' as const, error, isAsking: false, completedAt: app.clock.now() };
      session({ status: 'failed' satisfies SessionState });
      this.answerOpenCalls(turn, 'The turn has failed before this call was over.');
      tell({ type: 'session.error', error });
      tell({ type: 'turn.end', finishReason: 'error', error, ...this.shown(turn, over) });
      return over;
    });
  }

  /** Answers the calls of a turn that are open, so that the conversation can go on after it. In the caller's commit. */
  answerOpenCalls(turn: TurnRow, output: string): void {
    const { store, log } = this.parts;
    const calls = store.callsOf(turn.tenant, turn.sessionId, turn.number, turn.iteration);
    const open = calls.filter(({ state }) => state !== 'told');
    for (const call of open) {
      if (call.state === 'finished') continue;
      store.changeCall(call, [call.state], { state: 'finished', ok: false, output });
      const { clock } = this.parts.app;
      const durationMs = call.startedAt === null ? 0 : clock.now() - call.startedAt;
      log.append(turn.sessionId, turn.number, endEvent(call, { ok: false, output }, durationMs));
    }
    tellResults(this.parts, turn);
  }

  private shown(turn: TurnRow, change: Partial<TurnRow>) {
    const calls = this.parts.store.shownCalls(turn.tenant, turn.sessionId, turn.number);
    return { turn: turnWire({ ...turn, ...change }, calls) };
  }
}

/** Puts the results of the last answer's calls into the conversation, in their order. In the caller's commit. */
export function tellResults({ store }: Pick<TurnParts, 'store'>, turn: TurnRow): void {
  const calls = store.callsOf(turn.tenant, turn.sessionId, turn.number, turn.iteration);
  const finished = calls.filter(({ state }) => state === 'finished');
  const messages = finished.map(({ modelId, output }) => {
    const message = { role: 'tool' as const, tool_call_id: modelId, content: output ?? '' };
    return { message, tokens: estimateMessage(message) };
  });
  store.addMessages(turn.sessionId, turn.number, messages);
  for (const call of finished) store.changeCall(call, ['finished'], { state: 'told' });
}

function tokensOf({ promptTokens, completionTokens }: TurnRow) {
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
}
