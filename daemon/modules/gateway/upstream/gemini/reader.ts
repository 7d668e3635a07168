import type { ChatChunk } from '../../wire/chat.ts';
import type { Usage } from '../../wire/usage.ts';
import { UpstreamError } from '../error.ts';
import { ChunkWriter, type Delta } from '../translate/chunks.ts';
import { brokenOff, type EventReader } from '../translate/stream.ts';
import { statusError } from './failure.ts';
import { finishOf, isFault } from './finish.ts';
import { annotationsOf } from './grounding.ts';
import type { Kept } from './kept.ts';
import { logprobsOf } from './logprobs.ts';
import type { GeminiCandidate, GeminiPart, GeminiResponse, GeminiUsage } from './wire.ts';

/** What is known of one candidate so far. */
interface Progress {
  /** Length of its text. */
  text: string;
  calls: number;
  ended: boolean;
}

/** Reads answers of generateContent, whole or event by event, into chunks. One for each answer. */
export class GeminiReader implements EventReader {
  private readonly writer: ChunkWriter;
  private readonly candidates = new Map<number, Progress>();
  private usage: GeminiUsage | undefined;

  constructor(
    model: string,
    private readonly provider: string,
  ) {
    this.writer = new ChunkWriter(model);
  }

  /** Errors: UpstreamError for an error among the events, or a candidate that ended by the model's fault. */
  read(event: unknown): ChatChunk[] {
    const response = (Array.isArray(event) ? event[0] : event) as GeminiResponse | null;
    if (response?.error) throw statusError(response.error, this.provider);
    if (!response) return [];
    this.writer.named(response.responseId);
    this.writer.model = response.modelVersion ?? this.writer.model;
    this.usage = response.usageMetadata ?? this.usage;
    const blocked = this.blocked(response);
    return blocked.length > 0
      ? blocked
      : (response.candidates ?? []).flatMap((candidate) => this.candidate(candidate));
  }

  /** Errors: UpstreamError of kind network when a candidate, or all of them, did not come to an end. */
  end(): ChatChunk[] {
    const all = [...this.candidates.values()];
    if (all.length === 0 || !all.every(({ ended }) => ended)) throw brokenOff(this.provider);
    return [this.writer.usage(usageOf(this.usage))];
  }

  private blocked({ promptFeedback, candidates }: GeminiResponse): ChatChunk[] {
    const reason = promptFeedback?.blockReason;
    if (!reason || candidates?.length) return [];
    this.candidates.set(0, { text: '', calls: 0, ended: true });
    const refusal = promptFeedback.blockReasonMessage ?? `The provider blocked the prompt: ${reason}.`;
    return [this.writer.delta(0, { refusal }), this.writer.finish(0, 'content_filter')];
  }

  private candidate(candidate: GeminiCandidate): ChatChunk[] {
    const { index = 0, content, finishReason, finishMessage } = candidate;
    if (finishReason && isFault(finishReason))
      throw new UpstreamError(
        'server',
        finishMessage ?? `The model of ${this.provider} ended with ${finishReason}.`,
        {
          code: finishReason,
        },
      );
    const progress = this.progress(index);
    const delta: Delta = {};
    for (const part of content?.parts ?? []) {
      if (part.functionCall) this.call(part, index, progress, delta);
      else this.part(part, progress, delta);
    }
    const annotations = annotationsOf(candidate.groundingMetadata, progress.text);
    if (annotations) delta.annotations = annotations;
    const logprobs = logprobsOf(candidate.logprobsResult);
    const chunks =
      Object.keys(delta).length > 0 || logprobs ? [this.writer.delta(index, delta, logprobs)] : [];
    if (!finishReason || progress.ended) return chunks;
    progress.ended = true;
    chunks.push(this.writer.finish(index, finishOf(finishReason, progress.calls > 0)));
    return chunks;
  }

  private progress(index: number): Progress {
    const known = this.candidates.get(index);
    if (known) return known;
    const progress = { text: '', calls: 0, ended: false };
    this.candidates.set(index, progress);
    return progress;
  }

  private part(part: GeminiPart, progress: Progress, delta: Delta): void {
    const { text, thoughtSignature: signature, inlineData } = part;
    const at = progress.text.length;
    if (text !== undefined && !part.thought) {
      if (text !== '') delta.content = (delta.content ?? '') + text;
      progress.text += text;
      if (signature) keep(delta, { type: 'google.text', from: at, to: at + text.length, signature });
      return;
    }
    if (text) delta.reasoning_content = (delta.reasoning_content ?? '') + text;
    if (inlineData && !part.thought) addImage(delta, inlineData);
    if (signature || (text === undefined && !inlineData)) keep(delta, { type: 'google.part', at, part });
  }

  private call(
    { functionCall, thoughtSignature: signature }: GeminiPart,
    index: number,
    progress: Progress,
    delta: Delta,
  ): void {
    const own = functionCall?.id !== undefined && functionCall.id !== '';
    const place = progress.calls++;
    const id = own ? String(functionCall?.id) : `call_${this.writer.id}_${index}_${place}`;
    delta.tool_calls ??= [];
    delta.tool_calls.push({
      index: place,
      id,
      type: 'function',
      function: { name: functionCall?.name ?? '', arguments: JSON.stringify(functionCall?.args ?? {}) },
    });
    if (own || signature)
      keep(delta, {
        type: 'google.call',
        call: id,
        ...(signature ? { signature } : {}),
        ...(own ? { own } : {}),
      });
  }
}

function keep(delta: Delta, kept: Kept): void {
  delta.provider_content ??= [];
  delta.provider_content.push(kept);
}

function addImage(delta: Delta, { mimeType, data }: NonNullable<GeminiPart['inlineData']>): void {
  delta.images ??= [];
  delta.images.push({ type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } });
}

/** Thoughts are output, and results of built-in tools are input, though neither is in the provider's own two counts. */
function usageOf(usage: GeminiUsage = {}): Usage {
  const {
    promptTokenCount = 0,
    toolUsePromptTokenCount = 0,
    candidatesTokenCount = 0,
    thoughtsTokenCount,
  } = usage;
  return {
    input: promptTokenCount + toolUsePromptTokenCount,
    output: candidatesTokenCount + (thoughtsTokenCount ?? 0),
    cachedInput: usage.cachedContentTokenCount,
    reasoning: thoughtsTokenCount,
  };
}
