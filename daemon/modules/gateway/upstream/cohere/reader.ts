import type { ChatChunk } from '../../wire/chat.ts';
import type { Usage } from '../../wire/usage.ts';
import { UpstreamError } from '../error.ts';
import { ChunkWriter } from '../translate/chunks.ts';
import { brokenOff, type EventReader } from '../translate/stream.ts';
import type { KeptThought } from './request.ts';
import type { CohereAnswer, CohereCitation, CohereEvent, CohereUsage } from './wire.ts';

const REASONS: Readonly<Record<string, string>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  TOOL_CALL: 'tool_calls',
  MAX_TOKENS: 'length',
};

/** Reads the events of Chat v2, and whole answers as such events, into chunks. One for each answer. */
export class CohereReader implements EventReader {
  private readonly writer: ChunkWriter;
  private calls = 0;
  /** The call that is open has no arguments yet. */
  private isBare = false;
  private thinking = '';
  private plan = '';
  private ended = false;
  private usage: CohereUsage = {};

  constructor(
    model: string,
    private readonly provider: string,
  ) {
    this.writer = new ChunkWriter(model);
  }

  /** Errors: UpstreamError when the answer ended by a fault of the model or its provider. */
  read(event: unknown): ChatChunk[] {
    const { type, id, delta = {} } = event as CohereEvent;
    const { content, tool_plan, tool_calls, citations } = delta.message ?? {};
    switch (type) {
      case 'message-start':
        this.writer.named(id);
        return [];
      case 'content-start':
      case 'content-delta':
        return this.content(content);
      case 'tool-plan-delta':
        this.plan += tool_plan ?? '';
        return tool_plan ? [this.writer.delta(0, { reasoning_content: tool_plan })] : [];
      case 'tool-call-start':
        return [this.call(tool_calls)];
      case 'tool-call-delta':
        return this.argument(tool_calls?.function?.arguments ?? '');
      case 'tool-call-end':
        return this.isBare ? this.argument('{}') : [];
      case 'citation-start':
        return citations ? this.cite([citations]) : [];
      case 'message-end':
        return this.finish(delta);
      default:
        return [];
    }
  }

  /** The whole answer, as the events that it would have been. */
  whole({ id, message = {}, finish_reason, usage }: CohereAnswer): ChatChunk[] {
    const { content, tool_plan, tool_calls, citations } = message;
    const events: CohereEvent[] = [
      { type: 'message-start', id },
      ...(content ?? []).map((part) => ({ type: 'content-start', delta: { message: { content: part } } })),
      ...(tool_plan ? [{ type: 'tool-plan-delta', delta: { message: { tool_plan } } }] : []),
      ...(tool_calls ?? []).flatMap((call) => [
        { type: 'tool-call-start', delta: { message: { tool_calls: call } } },
        { type: 'tool-call-end' },
      ]),
      ...(citations ?? []).map((citation) => ({
        type: 'citation-start',
        delta: { message: { citations: citation } },
      })),
      { type: 'message-end', delta: { finish_reason, usage: usage ?? {} } },
    ];
    return [...events.flatMap((event) => this.read(event)), ...this.end()];
  }

  /** Errors: UpstreamError of kind network when the answer did not come to its end. */
  end(): ChatChunk[] {
    if (!this.ended) throw brokenOff(this.provider);
    return [this.writer.usage(usageOf(this.usage))];
  }

  private content(content: { readonly text?: string; readonly thinking?: string } | undefined): ChatChunk[] {
    if (content?.thinking) {
      this.thinking += content.thinking;
      return [this.writer.delta(0, { reasoning_content: content.thinking })];
    }
    return content?.text ? [this.writer.delta(0, { content: content.text })] : [];
  }

  private call(call: NonNullable<NonNullable<CohereEvent['delta']>['message']>['tool_calls']): ChatChunk {
    const index = this.calls++;
    const id = call?.id ?? `call_${this.writer.id}_${index}`;
    const { name = '', arguments: text = '' } = call?.function ?? {};
    this.isBare = text === '';
    return this.writer.delta(0, {
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }],
    });
  }

  private argument(text: string): ChatChunk[] {
    if (text === '') return [];
    this.isBare = false;
    return [this.writer.delta(0, { tool_calls: [{ index: this.calls - 1, function: { arguments: text } }] })];
  }

  private cite(citations: readonly CohereCitation[]): ChatChunk[] {
    const annotations = citations.flatMap(({ start = 0, end = 0, sources = [] }) =>
      sources.map(({ id = '', document }) => ({
        type: 'url_citation',
        url_citation: {
          url: document?.url ?? id,
          title: document?.title ?? id,
          start_index: start,
          end_index: end,
        },
      })),
    );
    return annotations.length > 0 ? [this.writer.delta(0, { annotations })] : [];
  }

  private finish({
    finish_reason = 'COMPLETE',
    error,
    usage = {},
  }: NonNullable<CohereEvent['delta']>): ChatChunk[] {
    if (finish_reason === 'TIMEOUT')
      throw new UpstreamError('timeout', `The model of ${this.provider} took too long.`);
    if (finish_reason.startsWith('ERROR'))
      throw new UpstreamError('server', `The model of ${this.provider} failed: ${error ?? finish_reason}`, {
        code: finish_reason,
      });
    this.ended = true;
    this.usage = usage;
    const kept = this.kept();
    const reason = REASONS[finish_reason] ?? 'stop';
    const last = this.writer.finish(0, reason === 'tool_calls' && this.calls === 0 ? 'stop' : reason);
    return kept.length > 0 ? [this.writer.delta(0, { provider_content: kept }), last] : [last];
  }

  /** Thoughts are asked back only where the answer goes on after calls. */
  private kept(): KeptThought[] {
    if (this.calls === 0) return [];
    return [
      ...(this.thinking ? [{ type: 'cohere.thinking' as const, thinking: this.thinking }] : []),
      ...(this.plan ? [{ type: 'cohere.tool_plan' as const, tool_plan: this.plan }] : []),
    ];
  }
}

/** What was read and written; what was billed where nothing else is said. */
function usageOf({ tokens, billed_units, cached_tokens }: CohereUsage): Usage {
  return {
    input: tokens?.input_tokens ?? billed_units?.input_tokens ?? 0,
    output: tokens?.output_tokens ?? billed_units?.output_tokens ?? 0,
    cachedInput: cached_tokens,
  };
}
