import { AppError, asAppError } from '../../../../../src/errors/app-error.ts';
import type { JsonObject, Tool, ToolContext, ToolOutcome } from '../../tools/tool.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { TurnGone, type TurnParts, type TurnWork } from '../parts.ts';
import type { CallRow } from '../tables.ts';
import { endEvent, startEvent } from './events.ts';

/** What a tool has done beyond recall: nobody knows whether a call that was cut off has had its effect. */
export const UNKNOWN = 'unknown';

/** Carries out calls, each once. */
export class CarryOut {
  constructor(
    private readonly parts: TurnParts,
    private readonly checkpoint: Checkpoint,
  ) {}

  /** Carries out a call that is ready, and writes down what came of it. Errors: TurnGone; the reason of the turn's signal. */
  async run(work: TurnWork, call: CallRow): Promise<void> {
    const begun = performance.now();
    this.checkpoint.step(work, ({ tell }) => {
      const startedAt = this.parts.app.clock.now();
      const isMine = this.parts.store.changeCall(call, ['ready'], {
        state: 'running',
        startedAt,
        note: null,
      });
      if (!isMine) throw new TurnGone();
      tell(startEvent(call));
      return undefined;
    });
    const outcome = await this.outcome(work, call, (tool, args, context) => tool.run(args, context));
    this.finish(work, call, outcome, Math.round(performance.now() - begun));
  }

  /**
   * Takes up a call that the end of the daemon has cut off: a tool that only looks does so again, one that had noted nothing
   * has not begun, another one says what became of it. Answers `unknown` when nobody knows. Errors: as `run`.
   */
  async recover(work: TurnWork, call: CallRow): Promise<'finished' | 'again' | typeof UNKNOWN> {
    const tool = work.toolbox.find(call.name);
    if (tool?.isRead || (tool?.recover && call.note === null)) {
      this.checkpoint.step(work, () => {
        this.parts.store.changeCall(call, ['running'], { state: 'ready' });
        return undefined;
      });
      return 'again';
    }
    const { recover } = tool ?? {};
    if (!tool || !recover) return UNKNOWN;
    let isKnown = true;
    const outcome = await this.outcome(work, call, async (_tool, args, context) => {
      const found = await recover.call(tool, args, context, call.note ?? '');
      isKnown = found !== undefined;
      return found ?? { ok: false, output: '' };
    });
    if (!isKnown) return UNKNOWN;
    const { clock } = this.parts.app;
    this.finish(work, call, outcome, clock.now() - (call.startedAt ?? clock.now()));
    return 'finished';
  }

  private async outcome(
    work: TurnWork,
    call: CallRow,
    act: (tool: Tool, args: JsonObject, context: ToolContext) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    const tool = work.toolbox.find(call.name);
    const read = tool && work.toolbox.read(tool, call.args);
    if (!tool || !read || 'problem' in read)
      return { ok: false, output: `${call.name} is not there any more.` };
    const context = this.contextOf(work, call);
    try {
      const { ok, output } = await unlessAborted(work.signal, act(tool, read.args, context));
      return { ok, output: this.parts.cap(context, output) };
    } catch (error) {
      if (work.signal.aborted) throw work.signal.reason;
      return this.failed(call, error);
    }
  }

  private failed({ id, name }: CallRow, error: unknown): ToolOutcome {
    if (!(error instanceof AppError))
      this.parts.app.log.error('a tool failed', { tool: name, call: id, error });
    const { message, violations, hint } = asAppError(error);
    const fields = violations.map(({ field, description }) => `${field} ${description}`).join('; ');
    return { ok: false, output: [fields || message, hint].filter(Boolean).join(' ') };
  }

  private finish(work: TurnWork, call: CallRow, outcome: ToolOutcome, durationMs: number): void {
    this.checkpoint.step(work, ({ tell }) => {
      const change = { state: 'finished' as const, ...outcome, durationMs };
      if (!this.parts.store.changeCall(call, ['running'], change)) throw new TurnGone();
      tell(endEvent(call, outcome, durationMs));
      return undefined;
    });
  }

  private contextOf(work: TurnWork, call: CallRow): ToolContext {
    const { session, turn, signal } = work;
    return {
      caller: turn.caller,
      agent: session.agent,
      sessionId: session.id,
      turnNumber: turn.number,
      callId: call.id,
      signal,
      note: (note) => {
        if (!this.parts.store.changeCall(call, ['running'], { note })) throw new TurnGone();
      },
      tell: (event) =>
        this.checkpoint.step(work, ({ tell }) => {
          tell({ ...event, toolCallId: call.id });
          return undefined;
        }),
    };
  }
}

/** A tool that does not heed the signal holds nobody up. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
    work.catch(() => undefined);
  }
}
