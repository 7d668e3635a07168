import type {
  CreateResponseResponse,
  ResponseOutputItem,
} from '../../../../../src/api/gateway/response-list.ts';
import type { Value } from '../../../../../src/api/schema.ts';
import { invalid } from '../../../../../src/errors/app-error.ts';
import { isObject } from '../../upstream/translate/content.ts';
import type { Item, ResponseObject, Status } from './wire.ts';

type Listed = Value<typeof CreateResponseResponse>;
type ListedItem = Value<typeof ResponseOutputItem>;
type ListedPart = NonNullable<ListedItem['content']>[number];

/** The states that the list knows. One that waits is in progress there. */
const STATUSES: Readonly<Record<NonNullable<Listed['status']>, readonly Status[]>> = {
  in_progress: ['queued', 'in_progress'],
  completed: ['completed'],
  incomplete: ['incomplete'],
  failed: ['failed'],
  cancelled: ['cancelled'],
};

/** The states that a query asks for; undefined for all. Errors: invalid_argument naming it. */
export function statusesOf(status: string | undefined): readonly Status[] | undefined {
  if (status === undefined || status === '') return undefined;
  const known = Object.entries(STATUSES).find(([name]) => name === status);
  if (known) return known[1];
  throw invalid({ field: 'status', description: `must be one of ${Object.keys(STATUSES).join(', ')}` });
}

/** A response in the native format. What it has no value of is absent. */
export function toListed(response: ResponseObject): Listed {
  const { id, model, error, incomplete_details: cut, status, reasoning } = response;
  return {
    id,
    object: 'response',
    createdAt: String(response.created_at),
    status: status === 'queued' ? 'in_progress' : status,
    model,
    output: response.output.map(toListedItem),
    ...(error ? { error: { code: error.code, message: error.message } } : {}),
    ...(cut?.reason ? { incompleteDetails: { reason: cut.reason } } : {}),
    ...(response.usage ? { usage: toListedUsage(response.usage) } : {}),
    metadata: response.metadata ?? {},
    ...given('temperature', response.temperature),
    ...given('topP', response.top_p),
    ...given('maxOutputTokens', response.max_output_tokens),
    ...given('previousResponseId', response.previous_response_id),
    reasoning: { ...given('effort', reasoning?.effort), ...given('generateSummary', reasoning?.summary) },
    truncation: { type: response.truncation ?? 'disabled' },
  };
}

const ITEM_TYPES: ReadonlySet<unknown> = new Set([
  'message',
  'function_call',
  'function_call_output',
  'web_search_call',
  'file_search_call',
  'computer_call',
  'reasoning',
]);

/** Items of types for which the format has no word have an id and a status. */
function toListedItem({
  id,
  type,
  status,
  content,
  summary,
  call_id,
  name,
  arguments: args,
  output,
}: Item): ListedItem {
  const parts: readonly unknown[] =
    type === 'reasoning' ? (summary ?? []) : Array.isArray(content) ? content : [];
  return {
    ...given('id', id),
    ...(ITEM_TYPES.has(type) ? { type: type as ListedItem['type'] } : {}),
    status: status === 'in_progress' || status === 'incomplete' ? status : 'completed',
    ...(type === 'message' ? { role: 'ROLE_ASSISTANT' as const } : {}),
    content: parts.flatMap(toListedPart),
    ...given('callId', call_id),
    ...given('name', name),
    ...given('arguments', args),
    ...(typeof output === 'string' ? { output } : {}),
  };
}

function toListedPart(part: unknown): ListedPart[] {
  if (!isObject(part)) return [];
  const text = part.text ?? part.refusal;
  return typeof text === 'string' ? [{ type: 'text', text }] : [];
}

function toListedUsage(usage: NonNullable<ResponseObject['usage']>): NonNullable<Listed['usage']> {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    totalTokens: usage.total_tokens,
    inputTokensDetails: { cachedTokens: usage.input_tokens_details?.cached_tokens ?? 0 },
    outputTokensDetails: { reasoningTokens: usage.output_tokens_details?.reasoning_tokens ?? 0 },
  };
}

function given<N extends string, V>(name: N, value: V | null | undefined): { readonly [K in N]?: V } {
  return value == null ? {} : ({ [name]: value } as { [K in N]: V });
}
