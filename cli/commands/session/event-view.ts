import { formatDuration } from '../../../src/kit/duration.ts';
import type { Style } from '../../ui/color.ts';
import { printable } from '../../ui/table.ts';
import { argsText, callLine, cut, harmless, type KnownCall } from './call-text.ts';
import type { AgentEvent } from './feed.ts';

/** What is shown of an event: words of the agent as they come, or a line of its own. */
export type Piece = { readonly text: string } | { readonly line: string };

/** How events are shown. */
export interface ViewOptions {
  readonly style: Style;
  /** The most of a line. */
  readonly columns: () => number;
  /** Also where turns and calls begin: for those who only look on. */
  readonly full: boolean;
}

/** Turns events into words and lines for people. Nothing of a model or a tool in them can steer a terminal. */
export class EventView {
  private readonly calls = new Map<string, KnownCall>();
  private readonly options: ViewOptions;

  constructor(options: ViewOptions) {
    this.options = options;
  }

  /** The calls that are under way. */
  get running(): readonly KnownCall[] {
    return [...this.calls.values()];
  }

  take(event: AgentEvent): Piece[] {
    if (event.type === 'llm.chunk') return [{ text: printable(event.textDelta ?? '') }];
    return this.lines(event).map((line) => ({ line }));
  }

  private lines(event: AgentEvent): string[] {
    const { style, full } = this.options;
    const { type, error = '' } = event;
    switch (type) {
      case 'turn.start':
        this.calls.clear();
        return full ? [style.bold(`turn ${event.turnNumber}`)] : [];
      case 'llm.end':
        return this.cutAnswer(event);
      case 'tool_call.start':
        return this.begun(event);
      case 'tool_call.end':
      case 'tool_call.error':
        return [this.ended(event)];
      case 'spawn.start':
        return [this.dim(`↳ ${spawned(event)}`)];
      case 'fallback.triggered':
        return [
          style.yellow(
            this.cut(
              `${event.fallbackFromModel} failed (${harmless(error)}); asking ${event.fallbackToModel}`,
            ),
          ),
        ];
      case 'compaction.applied':
        return [this.dim('· the beginning of the conversation was put in few words')];
      case 'compaction.failed':
        return [style.yellow(this.cut(`the conversation could not be summed up: ${harmless(error)}`))];
      case 'approval.requested':
        return [
          style.yellow('? needs approval'),
          ...(event.pendingToolCalls ?? []).map(({ toolName = '', toolArgs = '' }) =>
            this.cut(`  ${style.bold(harmless(toolName))} ${argsText(toolName, toolArgs)}`),
          ),
        ];
      case 'approval.resolved':
        return [this.dim(event.approvalAction === 'approve' ? '  approved' : '  denied')];
      case 'approval.cancelled':
        return [this.dim('  nothing is asked any more')];
      case 'user_input.requested':
        return questionLines(event).map((line, i) => (i === 0 ? style.yellow(line) : line));
      case 'steer.received':
        return [this.dim(`» ${harmless(event.textDelta ?? '')}`)];
      case 'turn.end':
        return [this.turnEnd(event)];
      case 'session.end':
        return [this.dim(`the session is ${event.finishReason ?? 'over'}`)];
      default:
        return [];
    }
  }

  /** An answer that was not finished is begun anew. Why a model failed is told by what follows. */
  private cutAnswer({ finishReason }: AgentEvent): string[] {
    if (finishReason !== 'interrupted') return [];
    return [this.dim('(svc was restarted meanwhile; the model is asked again)')];
  }

  private begun({ toolCallId = '', toolName = '', toolArgs = '' }: AgentEvent): string[] {
    this.calls.set(toolCallId, { name: toolName, args: toolArgs });
    return this.options.full
      ? [this.dim(`→ ${harmless(toolName)} ${argsText(toolName, toolArgs)}`.trimEnd())]
      : [];
  }

  private ended(event: AgentEvent): string {
    const { toolCallId = '', toolName = '', toolResult = '', toolSuccess = false, toolDurationMs } = event;
    const call = this.calls.get(toolCallId) ?? { name: toolName, args: '{}' };
    this.calls.delete(toolCallId);
    const durationMs = toolDurationMs === undefined ? undefined : Number(toolDurationMs);
    const over = { ok: toolSuccess, result: toolResult, durationMs };
    const { style, columns } = this.options;
    const line = callLine({ ...call, ...over }, columns());
    const [mark = '', ...rest] = [...line];
    return `${toolSuccess ? style.green(mark) : style.red(mark)}${style.dim(rest.join(''))}`;
  }

  private turnEnd({ finishReason, error = '', turn = {} }: AgentEvent): string {
    const { style } = this.options;
    if (finishReason === 'cancelled') return style.yellow(`✗ the turn was ended: ${harmless(error)}`);
    if (turn.status === 'TURN_STATUS_FAILED') return style.red(`✗ the turn failed: ${harmless(error)}`);
    const calls = (JSON.parse(turn.toolCalls || '[]') as unknown[]).length;
    const facts = [
      `${turn.totalTokens ?? 0} tokens`,
      calls === 0 ? '' : calls === 1 ? '1 call' : `${calls} calls`,
      formatDuration(Number(turn.latencyMs ?? 0)),
      ENDS[finishReason ?? ''] ?? '',
    ];
    return this.dim(facts.filter((fact) => fact !== '').join(' · '));
  }

  private dim(line: string): string {
    return this.options.style.dim(this.cut(line));
  }

  private cut(line: string): string {
    return cut(line, this.options.columns());
  }
}

/** Ends of turns that a person should know of. */
const ENDS: Readonly<Record<string, string>> = {
  length: 'cut off at the most tokens',
  content_filter: 'cut off by the provider’s filter',
  max_steps: 'stopped: the agent has used up its steps',
  max_tool_calls: 'stopped: the agent has used up its calls',
};

/** A question of an agent, and the answers to choose from. */
export function questionOf({ toolArgs = '' }: AgentEvent): { question: string; options: string[] } {
  try {
    const { question, options } = JSON.parse(toolArgs) as { question?: unknown; options?: unknown };
    const listed = Array.isArray(options) ? options.map((one) => String(one)) : [];
    return { question: String(question ?? ''), options: listed };
  } catch {
    return { question: toolArgs, options: [] };
  }
}

function questionLines(event: AgentEvent): string[] {
  const { question, options } = questionOf(event);
  const [first = '', ...more] = printable(question).split('\n');
  return [`? ${first}`, ...more, ...options.map((option, i) => `  ${i + 1}  ${harmless(option)}`)];
}

function spawned({ toolArgs = '{}' }: AgentEvent): string {
  try {
    const { agent, sessionId } = JSON.parse(toolArgs) as { agent?: unknown; sessionId?: unknown };
    return harmless(`${agent} works in the session ${sessionId}`);
  } catch {
    return 'another agent works';
  }
}
