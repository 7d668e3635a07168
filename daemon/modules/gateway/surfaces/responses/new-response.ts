import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { ResponseObject, ResponseRequest, Status } from './wire.ts';

/** Fields that are given back as they were asked for, when they were. */
const ECHOED = [
  'max_tool_calls',
  'prompt',
  'prompt_cache_key',
  'safety_identifier',
  'service_tier',
  'top_logprobs',
  'user',
] as const;

/** Unix time in seconds. */
export function toSeconds(ms: number): number {
  return Math.floor(ms / SECOND_MS);
}

/** A response as it is before anything was said, with the settings of its request and the defaults of the dialect. */
export function newResponse(
  id: string,
  now: number,
  request: ResponseRequest,
  status: Status,
): ResponseObject {
  return {
    id,
    object: 'response',
    created_at: toSeconds(now),
    status,
    background: request.background ?? false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request.metadata ?? {},
    model: request.model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: { effort: null, summary: null, ...request.reasoning },
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: { format: { type: 'text' }, ...request.text },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    usage: null,
    ...Object.fromEntries(ECHOED.flatMap((name) => (request[name] == null ? [] : [[name, request[name]]]))),
  };
}
