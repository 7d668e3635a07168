import type { ChatRequest } from '../../wire/chat.ts';
import type { MessagesRequest } from '../../wire/messages.ts';
import { refused } from '../refused.ts';
import { conversationOf } from './conversation.ts';
import { type ModelTraits, traitsOf } from './model.ts';
import { OUTPUT_TOOL, type Output, outputOf } from './output.ts';
import { type Reasoning, reasoningOf } from './thinking.ts';
import { toolsOf } from './tools.ts';

/** The version of the API in which requests are made, when the provider's settings name none. Newer ones refuse `temperature`, `top_p` and `top_k`. */
export const API_VERSION = '2023-06-01';

/** A chat completion in this dialect. */
export interface TranslatedRequest {
  readonly body: MessagesRequest;
  /** The answer is the input of OUTPUT_TOOL. */
  readonly answersByTool: boolean;
}

/**
 * Translates a request for a version of the API. Left out is what this dialect has no word for: penalties, logit_bias, logprobs, seed, store.
 * Errors: UpstreamError naming what would change the answer if it were left out.
 */
export function translateRequest(request: ChatRequest, version: string = API_VERSION): TranslatedRequest {
  if ((request.n ?? 1) > 1) throw refused('n', 'must be 1: this model gives one answer');
  const { model, stream } = request;
  const traits = traitsOf(model);
  const output = outputOf(request, traits);
  const max_tokens = request.max_completion_tokens ?? request.max_tokens ?? traits.answerTokens;
  const reasoning = output.tool ? {} : reasoningOf(request, traits, max_tokens);
  const takesSampling = version === API_VERSION && !thinks(reasoning);
  const body = {
    model,
    max_tokens,
    ...(stream ? { stream: true } : {}),
    ...conversation(request, traits, output),
    ...(output.tool ? outputTool(output.tool) : toolsOf(request, traits)),
    ...outputConfig(output, reasoning),
    ...(reasoning.thinking ? { thinking: reasoning.thinking } : {}),
    ...(takesSampling ? samplingOf(request, traits) : {}),
    ...others(request),
  };
  return { body, answersByTool: output.tool !== undefined };
}

function conversation(request: ChatRequest, traits: ModelTraits, { instruction }: Output) {
  const { system, messages } = conversationOf(request.messages, traits);
  const before = instruction === undefined ? system : [...system, { type: 'text', text: instruction }];
  if (messages.length === 0) return { messages: [{ role: 'user' as const, content: [...before] }] };
  return { ...(before.length > 0 ? { system: [...before] } : {}), messages: [...messages] };
}

function outputTool(tool: NonNullable<Output['tool']>) {
  return { tools: [tool], tool_choice: { type: 'tool', name: OUTPUT_TOOL } };
}

function outputConfig({ format }: Output, { effort }: Reasoning): Pick<MessagesRequest, 'output_config'> {
  if (!format && !effort) return {};
  return { output_config: { ...(effort ? { effort } : {}), ...(format ? { format } : {}) } };
}

type Sampling = Pick<MessagesRequest, 'temperature' | 'top_p' | 'top_k'>;

function thinks({ thinking }: Reasoning): boolean {
  return thinking !== undefined && thinking.type !== 'disabled';
}

/** Temperatures go to 1 here. Newer models refuse all of these, as every model does that is told to think. */
function samplingOf(request: ChatRequest, { sampling }: ModelTraits): Sampling {
  if (sampling === 'none') return {};
  const { temperature, top_p, top_k } = request as ChatRequest & Sampling;
  const heat = typeof temperature === 'number' ? { temperature: Math.min(temperature, 1) } : {};
  const mass = typeof top_p === 'number' && !(sampling === 'one' && 'temperature' in heat) ? { top_p } : {};
  return { ...heat, ...mass, ...(typeof top_k === 'number' ? { top_k } : {}) };
}

function others(request: ChatRequest): Partial<MessagesRequest> {
  const { stop, user, metadata, cache_control } = request as ChatRequest &
    Pick<MessagesRequest, 'cache_control'>;
  const stops = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((text) => text.trim() !== '');
  const userId = user ?? metadata?.user_id;
  const tier = tierOf(request.service_tier);
  return {
    ...(stops.length > 0 ? { stop_sequences: stops } : {}),
    ...(userId ? { metadata: { user_id: userId } } : {}),
    ...(tier ? { service_tier: tier } : {}),
    ...(cache_control ? { cache_control } : {}),
  };
}

function tierOf(tier: ChatRequest['service_tier']): string | undefined {
  if (tier === 'auto' || tier === 'priority') return 'auto';
  return tier === 'default' || tier === 'standard_only' ? 'standard_only' : undefined;
}
