import type { ChatChunk } from '../../wire/chat.ts';
import type { Usage } from '../../wire/usage.ts';
import { UpstreamError } from '../error.ts';
import { ChunkWriter } from '../translate/chunks.ts';
import { brokenOff } from '../translate/stream.ts';
import { ANSWER_TOOL } from './tools.ts';
import type { KeptReasoning } from './turns.ts';
import type { AnswerBlock, ConverseAnswer, ConverseEvent, ConverseUsage, Reasoning } from './wire.ts';

/** A block that is open. */
type Open = { call: number; hasInput: boolean } | { answer: true } | { reasoning: Reasoning };

const REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
};

/** Ends that are faults of the model: asking again may help. */
const FAULTS = new Set(['malformed_model_output', 'malformed_tool_use']);

/** Reads the events of ConverseStream, and whole answers as such events, into chunks. One for each answer. */
export class ConverseReader {
  private readonly writer: ChunkWriter;
  private readonly open = new Map<number, Open>();
  private calls = 0;
  private ended = false;
  private usage: ConverseUsage = {};

  constructor(
    model: string,
    private readonly provider: string,
    private readonly answersByTool: boolean,
  ) {
    this.writer = new ChunkWriter(model);
  }

  /** Errors: UpstreamError of kind server when the model ended by its own fault. */
  read(type: string, event: ConverseEvent): ChatChunk[] {
    switch (type) {
      case 'contentBlockStart':
        return this.start(event);
      case 'contentBlockDelta':
        return this.delta(event);
      case 'contentBlockStop':
        return this.stop(event);
      case 'messageStop':
        return [this.finish(event.stopReason ?? 'end_turn')];
      case 'metadata':
        this.usage = event.usage ?? this.usage;
        return [];
      default:
        return [];
    }
  }

  /** The whole answer, as the events that it would have been. */
  whole({ output, stopReason, usage }: ConverseAnswer): ChatChunk[] {
    const blocks = output?.message?.content ?? [];
    const chunks = blocks.flatMap((block, index) =>
      eventsOf(block, index).flatMap(([type, event]) => this.read(type, event)),
    );
    this.usage = usage ?? {};
    return [...chunks, this.finish(stopReason ?? 'end_turn'), ...this.end()];
  }

  /** Errors: UpstreamError of kind network when the answer did not come to its end. */
  end(): ChatChunk[] {
    if (!this.ended) throw brokenOff(this.provider);
    return [this.writer.usage(usageOf(this.usage))];
  }

  private start({ contentBlockIndex = 0, start }: ConverseEvent): ChatChunk[] {
    const use = start?.toolUse;
    if (!use) return [];
    if (this.answersByTool && use.name === ANSWER_TOOL) {
      this.open.set(contentBlockIndex, { answer: true });
      return [];
    }
    const call = this.calls++;
    this.open.set(contentBlockIndex, { call, hasInput: false });
    const opened = {
      index: call,
      id: use.toolUseId,
      type: 'function',
      function: { name: use.name, arguments: '' },
    };
    return [this.writer.delta(0, { tool_calls: [opened] })];
  }

  private delta({ contentBlockIndex = 0, delta = {} }: ConverseEvent): ChatChunk[] {
    const { text, toolUse, reasoningContent } = delta;
    if (text) return [this.writer.delta(0, { content: text })];
    if (toolUse?.input) return this.argument(contentBlockIndex, toolUse.input);
    return reasoningContent ? this.reasoning(contentBlockIndex, reasoningContent) : [];
  }

  private argument(index: number, input: string): ChatChunk[] {
    const open = this.open.get(index);
    if (open && 'answer' in open) return [this.writer.delta(0, { content: input })];
    if (!open || !('call' in open)) return [];
    open.hasInput = true;
    return [this.writer.delta(0, { tool_calls: [{ index: open.call, function: { arguments: input } }] })];
  }

  private reasoning(
    index: number,
    more: NonNullable<NonNullable<ConverseEvent['delta']>['reasoningContent']>,
  ): ChatChunk[] {
    const known = this.open.get(index);
    const reasoning = known && 'reasoning' in known ? known.reasoning : {};
    this.open.set(index, { reasoning });
    if (more.redactedContent)
      reasoning.redactedContent = (reasoning.redactedContent ?? '') + more.redactedContent;
    if (more.text || more.signature) {
      reasoning.reasoningText ??= { text: '' };
      reasoning.reasoningText.text += more.text ?? '';
      if (more.signature)
        reasoning.reasoningText.signature = (reasoning.reasoningText.signature ?? '') + more.signature;
    }
    return more.text ? [this.writer.delta(0, { reasoning_content: more.text })] : [];
  }

  /** A call without input has arguments all the same, because they are JSON. Thoughts have to come back only when sealed. */
  private stop({ contentBlockIndex = 0 }: ConverseEvent): ChatChunk[] {
    const open = this.open.get(contentBlockIndex);
    this.open.delete(contentBlockIndex);
    if (open && 'call' in open && !open.hasInput)
      return [this.writer.delta(0, { tool_calls: [{ index: open.call, function: { arguments: '{}' } }] })];
    if (!open || !('reasoning' in open)) return [];
    const { reasoning } = open;
    if (!reasoning.redactedContent && !reasoning.reasoningText?.signature) return [];
    const kept: KeptReasoning = { type: 'bedrock.reasoning', reasoning };
    return [this.writer.delta(0, { provider_content: [kept] })];
  }

  private finish(reason: string): ChatChunk {
    if (FAULTS.has(reason))
      throw new UpstreamError('server', `The model of ${this.provider} ended with ${reason}.`, {
        code: reason,
      });
    this.ended = true;
    const word = REASONS[reason] ?? 'stop';
    return this.writer.finish(0, word === 'tool_calls' && this.calls === 0 ? 'stop' : word);
  }
}

function eventsOf(
  { text, toolUse, reasoningContent, citationsContent }: AnswerBlock,
  contentBlockIndex: number,
): [string, ConverseEvent][] {
  const delta = (value: ConverseEvent['delta']): [string, ConverseEvent] => [
    'contentBlockDelta',
    { contentBlockIndex, delta: value },
  ];
  if (text !== undefined) return [delta({ text })];
  if (toolUse) {
    const { toolUseId, name, input = {} } = toolUse;
    const start = { toolUse: { toolUseId, name } };
    return [
      ['contentBlockStart', { contentBlockIndex, start }],
      delta({ toolUse: { input: JSON.stringify(input) } }),
    ];
  }
  if (citationsContent) return (citationsContent.content ?? []).map((part) => delta({ text: part.text }));
  if (!reasoningContent) return [];
  const { reasoningText, redactedContent } = reasoningContent;
  return [
    delta({ reasoningContent: { ...reasoningText, redactedContent } }),
    ['contentBlockStop', { contentBlockIndex }],
  ];
}

/** Tokens of the cache are input, though the provider counts them beside it. */
function usageOf({
  inputTokens = 0,
  outputTokens = 0,
  cacheReadInputTokens,
  cacheWriteInputTokens,
}: ConverseUsage): Usage {
  return {
    input: inputTokens + (cacheReadInputTokens ?? 0) + (cacheWriteInputTokens ?? 0),
    output: outputTokens,
    cachedInput: cacheReadInputTokens,
    cacheWrite: cacheWriteInputTokens,
  };
}
