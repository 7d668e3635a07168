import type { ChatRequest } from '../../wire/chat.ts';
import type { MessagesMessage } from '../../wire/messages.ts';
import type {
  Adapter,
  ModelInfo,
  PassedHeaders,
  RawAnswer,
  RelayRequest,
  StreamedChat,
  Upstream,
  UpstreamInit,
  WholeChat,
} from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { failedAnswer } from '../failed-answer.ts';
import { passHeaders } from '../pass-headers.ts';
import { JSON_HEADERS, parseJson, readJson, readText } from '../translate/answer.ts';
import { overEvents, streamedChat, wholeChat } from '../translate/stream.ts';
import { endingOf, serviceTier } from './endings.ts';
import { MessagesReader } from './reader.ts';
import { API_VERSION, translateRequest } from './request.ts';

const MESSAGES = '/v1/messages';
const COUNT = '/v1/messages/count_tokens';
const MOST_PAGES = 20;

/** The Messages API: chat completions translated, messages as they are. */
export const anthropicAdapter: Adapter = {
  chat,
  relay: {
    messages: (request, upstream, passed) => relay(MESSAGES, request, upstream, passed),
    count_tokens: (request, upstream, passed) => relay(COUNT, request, upstream, passed),
  },
  models: listModels,
};

async function chat(request: ChatRequest, upstream: Upstream): Promise<WholeChat | StreamedChat> {
  const { name, settings } = upstream.account;
  const { body, answersByTool } = translateRequest(request, settings.version);
  const response = await post(MESSAGES, body, upstream);
  const reader = new MessagesReader(request.model, name, answersByTool);
  if (isEventStream(response))
    return streamedChat(
      response,
      upstream,
      overEvents(reader, (text) => parseJson(text, name)),
    );
  const message = (await readJson(response, upstream)) as MessagesMessage | null;
  if (!Array.isArray(message?.content))
    throw new UpstreamError('server', `The provider ${name} answered with no message.`);
  return withOwnWords(
    wholeChat(response, [...reader.readWhole(message), ...reader.end()]),
    message,
    answersByTool,
  );
}

async function relay(
  path: string,
  request: RelayRequest,
  upstream: Upstream,
  passed?: PassedHeaders,
): Promise<RawAnswer> {
  const response = await post(path, request, upstream, passed);
  const headers = passHeaders(response.headers);
  return {
    headers,
    body: isEventStream(response) && response.body ? response.body : await readText(response, upstream),
  };
}

/** What the family of chat completions has no place for: the tier, and why the answer ended in the provider's own words. */
function withOwnWords(
  whole: WholeChat,
  { usage, stop_reason }: MessagesMessage,
  answersByTool: boolean,
): WholeChat {
  const ending = endingOf(stop_reason, answersByTool);
  const choices = whole.completion.choices.map((choice) => ({ ...choice, ...ending }));
  return { ...whole, completion: { ...whole.completion, choices, ...serviceTier(usage?.service_tier) } };
}

/** Posts JSON. Errors: UpstreamError for an answer that is no success. */
async function post(
  path: string,
  body: object,
  upstream: Upstream,
  passed: PassedHeaders = {},
): Promise<Response> {
  return call(path, upstream, { headers: passed, body: JSON.stringify(body) });
}

async function call(path: string, upstream: Upstream, init: UpstreamInit): Promise<Response> {
  const { key, account } = upstream;
  const { version = API_VERSION, beta } = account.settings;
  const betas = [beta, init.headers?.['anthropic-beta']].filter(Boolean).join(',');
  const headers = {
    ...JSON_HEADERS,
    'anthropic-version': version,
    ...init.headers,
    ...(betas === '' ? {} : { 'anthropic-beta': betas }),
    ...(key && key.secret !== '' ? { 'x-api-key': key.secret } : {}),
  };
  const response = await upstream.fetch(path, { ...init, headers });
  if (response.ok) return response;
  throw await failedAnswer(response, upstream);
}

interface Page {
  readonly data?: readonly { readonly id?: unknown; readonly created_at?: unknown }[];
  readonly has_more?: boolean;
  readonly last_id?: string | null;
}

async function listModels(upstream: Upstream): Promise<ModelInfo[]> {
  const models: ModelInfo[] = [];
  let after = '';
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await readJson(await call(`/v1/models?limit=1000${after}`, upstream, {}), upstream);
    const { data = [], has_more, last_id } = (answer ?? {}) as Page;
    models.push(...data.flatMap(modelOf));
    if (!has_more || !last_id) break;
    after = `&after_id=${encodeURIComponent(last_id)}`;
  }
  return models;
}

function modelOf({ id, created_at }: NonNullable<Page['data']>[number]): ModelInfo[] {
  if (typeof id !== 'string' || id === '') return [];
  const created = typeof created_at === 'string' ? Date.parse(created_at) : Number.NaN;
  return [{ id, created: created > 0 ? Math.floor(created / 1000) : 0 }];
}

function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}
