import type { ProviderAccount } from '../../../../providers/index.ts';
import { isObject } from '../../../upstream/translate/content.ts';
import type { ChatMessage, ChatRequest } from '../../../wire/chat.ts';
import type { Item, ResponseRequest } from '../wire.ts';
import { messagesOf } from './conversation.ts';
import { refused, toolsOf } from './tools.ts';

/**
 * The wish for a response as a wish for a chat completion. `madeBy` says which provider has made items, by their ids. Errors: UpstreamError naming
 * what cannot be said in it.
 */
export function chatRequestOf(
  request: ResponseRequest,
  items: readonly Item[],
  account: ProviderAccount,
  madeBy: ReadonlyMap<string, string>,
): ChatRequest {
  if (request.prompt != null)
    throw refused('prompt', 'templates are kept by a vendor, and the provider of this model has none');
  const { model, stream, temperature, top_p, service_tier, user, reasoning } = request;
  const asked = {
    temperature,
    top_p,
    service_tier,
    user,
    reasoning_effort: reasoning?.effort,
    verbosity: request.text?.verbosity,
    ...limitOf(request, account),
    ...logprobsOf(request),
  };
  return {
    model,
    messages: messagesFor(account, messagesOf(request.instructions, ownThoughts(items, account, madeBy))),
    ...Object.fromEntries(Object.entries(asked).filter(([, value]) => value != null)),
    ...toolsOf(request),
    ...formatOf(request),
    ...(stream ? { stream } : {}),
  };
}

/** Thoughts mean something to who has had them; other dialects sort out for themselves what is theirs. */
function ownThoughts(
  items: readonly Item[],
  account: ProviderAccount,
  madeBy: ReadonlyMap<string, string>,
): readonly Item[] {
  if (!isOfFamily(account)) return items;
  return items.filter(
    ({ type, id }) => type !== 'reasoning' || (madeBy.get(id ?? '') ?? account.name) === account.name,
  );
}

/** Providers of the family take thoughts back for calls that are being answered, and refuse them elsewhere; nobody there knows `provider_content`. */
function messagesFor(account: ProviderAccount, messages: readonly ChatMessage[]): ChatMessage[] {
  if (!isOfFamily(account)) return [...messages];
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, i) => {
    const {
      provider_content: _,
      reasoning_content,
      ...rest
    } = message as ChatMessage & { reasoning_content?: string };
    const isAnswered = i > lastUser && rest.tool_calls && reasoning_content !== undefined;
    return isAnswered ? { ...rest, reasoning_content } : rest;
  });
}

function isOfFamily({ dialect }: ProviderAccount): boolean {
  return dialect === 'openai' || dialect === 'azure';
}

/** Most providers of the family know only the older name of the limit; the vendor's own models only the newer one. */
function limitOf({ max_output_tokens: most }: ResponseRequest, { name, dialect }: ProviderAccount) {
  return name !== 'openai' && dialect === 'openai' ? { max_tokens: most } : { max_completion_tokens: most };
}

function logprobsOf({ include, top_logprobs }: ResponseRequest) {
  const wants = include?.includes('message.output_text.logprobs') || typeof top_logprobs === 'number';
  return wants
    ? { logprobs: true, top_logprobs: typeof top_logprobs === 'number' ? top_logprobs : undefined }
    : {};
}

function formatOf({ text }: ResponseRequest): Pick<ChatRequest, 'response_format'> {
  const format = text?.format;
  if (!isObject(format) || format.type === 'text') return {};
  const { type, ...json_schema } = format;
  if (type === 'json_object') return { response_format: { type } };
  if (type === 'json_schema') return { response_format: { type, json_schema } };
  throw refused('text.format.type', `${JSON.stringify(type)} is none of text, json_schema and json_object`);
}
