import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, fields, int32, int64, model, oneOf, stringMap, t } from '../schema.ts';

/** Who speaks. */
export const Role = enumeration('Role', [
  'ROLE_UNSPECIFIED',
  'ROLE_SYSTEM',
  'ROLE_USER',
  'ROLE_ASSISTANT',
  'ROLE_FUNCTION',
  'ROLE_TOOL',
]);

/** A part of a message. */
export const ContentPart = model('ContentPart', {
  type: oneOf('text', 'image_url'),
  text: t.String(),
  imageUrl: t.String(),
  fileId: t.String(),
  toolCallId: t.String(),
  functionCall: t.String(),
});

/** What a response failed of. */
export const ResponseError = model('ResponseError', { code: t.String(), message: t.String() });

/** Why a response is incomplete. */
export const IncompleteDetails = model('IncompleteDetails', { reason: t.String() });

/** A page that was found. */
export const WebSearchResult = model('WebSearchResult', {
  title: t.String(),
  url: t.String(),
  snippet: t.String(),
});

/** What a search of the web found. */
export const WebSearchResults = model('WebSearchResults', {
  query: t.String(),
  results: t.Array(WebSearchResult),
});

/** A file that was found. */
export const FileSearchResult = model('FileSearchResult', {
  fileId: t.String(),
  fileName: t.String(),
  content: t.String(),
  score: t.Number(),
});

/** What a search of files found. */
export const FileSearchResults = model('FileSearchResults', {
  query: t.String(),
  results: t.Array(FileSearchResult),
});

/** One thing that a response holds. */
export const ResponseOutputItem = model('ResponseOutputItem', {
  id: t.String(),
  type: oneOf(
    'message',
    'function_call',
    'function_call_output',
    'web_search_call',
    'file_search_call',
    'computer_call',
    'reasoning',
  ),
  status: oneOf('in_progress', 'completed', 'incomplete'),
  role: Role,
  content: t.Array(ContentPart),
  callId: t.String(),
  name: t.String(),
  arguments: t.String(),
  output: t.String(),
  webSearchResults: WebSearchResults,
  fileSearchResults: FileSearchResults,
});

/** Tokens by kind. */
export const ResponseUsageDetails = model('ResponseUsageDetails', {
  cachedTokens: int32(),
  textTokens: int32(),
  audioTokens: int32(),
  imageTokens: int32(),
  reasoningTokens: int32(),
});

/** The tokens that a response took. */
export const ResponseUsage = model('ResponseUsage', {
  inputTokens: int32(),
  outputTokens: int32(),
  totalTokens: int32(),
  inputTokensDetails: ResponseUsageDetails,
  outputTokensDetails: ResponseUsageDetails,
});

/** How much the model thinks. */
export const ReasoningConfig = model('ReasoningConfig', { effort: t.String(), generateSummary: t.String() });

/** What is left out when the context is full. */
export const TruncationStrategy = model('TruncationStrategy', { type: t.String(), lastMessages: int32() });

/** A stored response. */
export const CreateResponseResponse = model('CreateResponseResponse', {
  id: t.String(),
  object: t.Literal('response'),
  createdAt: int64(),
  status: oneOf('in_progress', 'completed', 'incomplete', 'failed', 'cancelled'),
  error: ResponseError,
  incompleteDetails: IncompleteDetails,
  model: t.String(),
  output: t.Array(ResponseOutputItem),
  usage: ResponseUsage,
  metadata: stringMap(),
  temperature: t.Number(),
  topP: t.Number(),
  maxOutputTokens: int32(),
  previousResponseId: t.String(),
  reasoning: ReasoningConfig,
  truncation: TruncationStrategy,
});

const here = { spec: 'gateway', tag: 'Responses' } as const;

/** The stored responses, in the native format. */
export const responseList = {
  ListResponses: endpoint({
    ...here,
    id: 'ListResponses',
    method: 'GET',
    path: '/compat/v1/responses',
    summary: 'List the stored responses',
    query: fields({
      status: t.String(),
      limit: int32({ minimum: 1, maximum: 100 }),
      after: t.String({ description: 'Id of the response to go on after.' }),
      before: t.String({ description: 'Id of the response to stop before.' }),
      order: oneOf('asc', 'desc'),
    }),
    response: model('ListResponsesResponse', {
      data: t.Array(CreateResponseResponse),
      object: t.Literal('list'),
      firstId: t.String(),
      lastId: t.String(),
      hasMore: t.Boolean(),
    }),
    access: 'viewer',
  }),
} satisfies Group;
