import type { ChatRequest } from '../../wire/chat.ts';
import { isObject, stopList } from '../translate/content.ts';
import { toContents } from './contents.ts';
import { toGeminiSchema } from './schema.ts';
import { thinkingOf } from './thinking.ts';
import { toTools } from './tools.ts';
import type { GeminiRequest } from './wire.ts';

const JSON_TYPE = 'application/json';

/**
 * A chat completion in the words of generateContent. What only this provider has comes in `extra_body.google`, as in its
 * own compatibility layer: `thinking_config`, `cached_content`, `safety_settings`. Errors: UpstreamError of kind request.
 */
export function toGemini(request: ChatRequest): GeminiRequest {
  const own = ownFields(request);
  return {
    ...toContents(request),
    ...toTools(request),
    generationConfig: generationConfig(request, own.thinking_config),
    safetySettings: own.safety_settings,
    cachedContent: own.cached_content,
  };
}

function ownFields(request: ChatRequest): Record<string, unknown> {
  const { extra_body, google } = request as { extra_body?: unknown; google?: unknown };
  if (isObject(google)) return google;
  return isObject(extra_body) && isObject(extra_body.google) ? extra_body.google : {};
}

function generationConfig(request: ChatRequest, thinking: unknown): Record<string, unknown> {
  const { logprobs, n, modalities, top_k } = request as ChatRequest & {
    modalities?: unknown;
    top_k?: unknown;
  };
  return {
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    topK: typeof top_k === 'number' ? top_k : undefined,
    maxOutputTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    stopSequences: stopList(request.stop),
    candidateCount: n && n > 1 ? n : undefined,
    seed: request.seed ?? undefined,
    presencePenalty: request.presence_penalty ?? undefined,
    frequencyPenalty: request.frequency_penalty ?? undefined,
    responseLogprobs: logprobs || undefined,
    logprobs: (logprobs && request.top_logprobs) || undefined,
    responseModalities: Array.isArray(modalities)
      ? modalities.map((name) => String(name).toUpperCase())
      : undefined,
    thinkingConfig: isObject(thinking) ? camel(thinking) : thinkingOf(request),
    ...formatOf(request.response_format),
  };
}

function formatOf(format: ChatRequest['response_format']): Record<string, unknown> {
  if (format?.type === 'json_object') return { responseMimeType: JSON_TYPE };
  if (format?.type !== 'json_schema') return {};
  const schema = format.json_schema?.schema;
  return { responseMimeType: JSON_TYPE, responseJsonSchema: schema && toGeminiSchema(schema) };
}

function camel(fields: Record<string, unknown>): Record<string, unknown> {
  const name = (text: string) => text.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [name(key), value]));
}
