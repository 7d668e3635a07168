import type { ChatRequest } from '../../wire/chat.ts';
import { isObject, stopList } from '../translate/content.ts';
import { type Traits, traitsOf } from './models.ts';
import { type Thinking, thinkingOf } from './thinking.ts';
import { toToolConfig } from './tools.ts';
import { toTurns } from './turns.ts';
import type { ConverseRequest } from './wire.ts';

const JSON_ONLY = 'Answer with one JSON object and nothing else.';

/** A request and how its answer is to be read. */
export interface Converse {
  readonly body: ConverseRequest;
  /** The answer comes as a call of ANSWER_TOOL. */
  readonly answersByTool: boolean;
}

/**
 * A chat completion in the words of Converse. Fields of Converse itself (`additionalModelRequestFields`, `guardrailConfig`,
 * `performanceConfig`) pass. Errors: UpstreamError of kind request.
 */
export function toConverse(request: ChatRequest): Converse {
  const traits = traitsOf(request.model);
  const own = request as ChatRequest &
    Pick<ConverseRequest, 'additionalModelRequestFields' | 'guardrailConfig' | 'performanceConfig'>;
  const thinking = thinkingOf(request, traits);
  const schema = schemaOf(request);
  const answersByTool = schema !== undefined && !traits.hasSchemas;
  const turns = toTurns(request, traits);
  const fields = {
    ...sampling(request, traits, thinking),
    ...thinking?.fields,
    ...own.additionalModelRequestFields,
  };
  const body: ConverseRequest = {
    ...turns,
    system:
      request.response_format?.type === 'json_object'
        ? [...(turns.system ?? []), { text: JSON_ONLY }]
        : turns.system,
    inferenceConfig: inferenceConfig(request, traits, thinking),
    toolConfig: toToolConfig(
      request,
      traits,
      answersByTool ? schema : undefined,
      traits.isForced && !(thinking && traits.isClaude),
    ),
    outputConfig: schema !== undefined && !answersByTool ? textFormat(request, schema) : undefined,
    additionalModelRequestFields: Object.keys(fields).length > 0 ? fields : undefined,
    serviceTier: tierOf(request),
    requestMetadata: metadataOf(request),
    guardrailConfig: own.guardrailConfig,
    performanceConfig: own.performanceConfig,
  };
  return { body, answersByTool };
}

/** Temperature and top_p, as far as the model takes them: newer Claude models take one or none, and none while they think. */
function nucleus(
  { temperature, top_p }: ChatRequest,
  { isClaude, generation }: Traits,
  thinking: Thinking | undefined,
) {
  if (isClaude && (thinking || generation >= 47)) return {};
  const warmth = temperature ?? undefined;
  const hasBoth = warmth !== undefined && top_p !== null && top_p !== undefined;
  return {
    temperature: warmth === undefined ? undefined : Math.min(warmth, 1),
    topP: hasBoth && isClaude && generation >= 41 ? undefined : (top_p ?? undefined),
  };
}

function inferenceConfig(
  request: ChatRequest,
  traits: Traits,
  thinking: Thinking | undefined,
): ConverseRequest['inferenceConfig'] {
  const config = {
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? thinking?.maxTokens,
    ...nucleus(request, traits, thinking),
    stopSequences: stopList(request.stop),
  };
  return Object.values(config).some((value) => value !== undefined) ? config : undefined;
}

function sampling(
  request: ChatRequest,
  { isClaude, isNova, generation }: Traits,
  thinking: Thinking | undefined,
): Record<string, unknown> {
  const { top_k } = request as { top_k?: unknown };
  if (typeof top_k !== 'number') return {};
  if (isNova) return { inferenceConfig: { topK: top_k } };
  return isClaude && !thinking && generation < 47 ? { top_k } : {};
}

function schemaOf({ response_format }: ChatRequest): unknown {
  const schema = response_format?.type === 'json_schema' ? response_format.json_schema?.schema : undefined;
  return isObject(schema) ? schema : undefined;
}

function textFormat({ response_format }: ChatRequest, schema: unknown): Record<string, unknown> {
  const { name = 'answer', description } = response_format?.json_schema ?? {};
  const jsonSchema = { schema: JSON.stringify(schema), name, ...(description ? { description } : {}) };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}

const TIERS = new Set(['default', 'priority', 'flex', 'reserved']);

function tierOf({ service_tier: type }: ChatRequest): ConverseRequest['serviceTier'] {
  return type && TIERS.has(type) ? { type } : undefined;
}

const MOST_PAIRS = 16;
const METADATA = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/;

/** Pairs that the provider writes to its own log; what it has no characters for is left out. */
function metadataOf({ metadata }: ChatRequest): ConverseRequest['requestMetadata'] {
  const pairs = Object.entries(metadata ?? {}).filter(
    ([name, value]) => METADATA.test(name) && METADATA.test(value),
  );
  return pairs.length > 0 ? Object.fromEntries(pairs.slice(0, MOST_PAIRS)) : undefined;
}
