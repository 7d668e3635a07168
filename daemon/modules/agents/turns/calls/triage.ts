import type { TurnRow } from '../../sessions/tables.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Checkpoint, Step } from '../checkpoint.ts';
import type { TurnParts, TurnWork } from '../parts.ts';
import type { CallRow } from '../tables.ts';
import { endEvent, shownCall, startEvent } from './events.ts';
import { reviewedCall } from './reviewed.ts';

/** What is to become of a call that the model has planned. */
type Verdict = { readonly kind: 'run' | 'ask' } | { readonly kind: 'no'; readonly why: string };

/** Decides about the calls of an answer before any of them is carried out. */
export class Triage {
  constructor(
    private readonly parts: TurnParts,
    private readonly checkpoint: Checkpoint,
  ) {}

  /** Answers those that cannot be, opens one review of those that wait for leave, and lets the others go. */
  decide(work: TurnWork, planned: readonly CallRow[]): void {
    this.checkpoint.step(work, (step) => {
      const asked: CallRow[] = [];
      for (const [i, call] of planned.entries()) {
        const verdict = this.verdict(work, call, step.turn.toolCalls - planned.length + i);
        if (verdict.kind === 'no') this.refuse(step, call, verdict.why);
        else if (verdict.kind === 'run') this.parts.store.changeCall(call, ['planned'], { state: 'ready' });
        else asked.push(call);
      }
      return asked.length === 0 ? undefined : this.openReview(work, step, asked);
    });
  }

  /**
   * Opens a review of calls, and lets the session wait. `note` says why, where no rule does; what nobody has decided then is not
   * carried out, whatever the agent's default. In the caller's commit.
   */
  openReview(
    { session }: TurnWork,
    { tell, turn, session: change }: Step,
    calls: readonly CallRow[],
    note?: string,
  ): Partial<TurnRow> {
    const { approval } = session.agent.config;
    const reviewId = this.parts.reviews.open({
      tenant: session.tenant,
      sessionId: session.id,
      agentId: session.agentId,
      turnNumber: turn.number,
      iteration: turn.iteration,
      calls: calls.map(reviewedCall),
      timeoutMs: approval.timeoutMs,
      defaultAction: note === undefined ? approval.defaultAction : 'deny',
      ...(note === undefined ? {} : { note }),
    });
    for (const call of calls)
      this.parts.store.changeCall(call, ['planned', 'running'], { state: 'reviewed', reviewId });
    tell({ type: 'approval.requested', reviewId, pendingToolCalls: calls.map(shownCall) });
    change({ status: 'waiting_for_approval' });
    return { status: 'waiting' };
  }

  private verdict({ session, toolbox }: TurnWork, call: CallRow, before: number): Verdict {
    const { agent, depth } = session;
    const no = (why: string): Verdict => ({ kind: 'no', why });
    if (agent.maxToolCallsPerTurn > 0 && before >= agent.maxToolCallsPerTurn)
      return no(`Not carried out: the ${agent.maxToolCallsPerTurn} calls of tools of this turn are used up.`);
    const tool = toolbox.find(call.name);
    if (!tool) return no(unknownTool(call.name, toolbox.names));
    if (tool.asks && depth > 0) return no('There is nobody to ask: this agent was started by another one.');
    const read = toolbox.read(tool, call.args);
    if ('problem' in read) return no(`Not carried out: ${read.problem}`);
    return this.allowed(agent, tool);
  }

  private allowed(agent: TurnWork['session']['agent'], tool: Tool): Verdict {
    const permission = this.parts.policy(agent, tool);
    if (permission === 'refuse')
      return { kind: 'no', why: `The execution policy of this agent does not allow ${tool.name}.` };
    return { kind: permission };
  }

  private refuse({ tell }: Step, call: CallRow, output: string): void {
    const outcome = { ok: false, output };
    this.parts.store.changeCall(call, ['planned'], { state: 'finished', ...outcome, durationMs: 0 });
    tell(startEvent(call), endEvent(call, outcome, 0));
  }
}

function unknownTool(name: string, names: readonly string[]): string {
  const offered = names.length === 0 ? 'It has none.' : `It has ${names.slice(0, 50).join(', ')}.`;
  return `Not carried out: ${JSON.stringify(name)} is no tool of this agent. ${offered}`;
}
