import { endpoint, type Group } from '../endpoint.ts';
import { binary, fields, ids, int32, int64, model, oneOf, t, timestamp } from '../schema.ts';

const milliseconds = (description: string) => t.Number({ description });
const tokens = (description?: string) => int64({ description });

/** What requests to models took and cost. */
export const UsageSums = {
  requests: int64(),
  errors: int64({ description: 'Of them: refused or failed.' }),
  stopped: int64({ description: 'Of them: their callers left.' }),
  cacheHits: int64({ description: 'Of them: answered from the cache, at no cost.' }),
  inputTokens: tokens(),
  outputTokens: tokens(),
  cachedInputTokens: tokens('Of inputTokens: read from the cache of the provider.'),
  cacheWriteTokens: tokens('Of inputTokens: written to the cache of the provider.'),
  reasoningTokens: tokens('Of outputTokens: spent on reasoning.'),
  costUsd: t.Number({ description: 'US dollars, of those requests whose price is known.' }),
  unpricedRequests: int64({ description: 'Requests whose price is not known; they are not in costUsd.' }),
  estimatedRequests: int64({
    description: 'Requests whose tokens are a guess, because the provider told none.',
  }),
  durationMsP50: milliseconds('Half of the requests took no longer.'),
  durationMsP95: milliseconds('19 of 20 took no longer.'),
  firstByteMsP50: milliseconds('Until the first byte of the answer.'),
  firstByteMsP95: milliseconds('Until the first byte of the answer.'),
};

/** The sums of one model, key, provider, day or surface. */
export const UsageGroup = model('UsageGroup', { group: t.String(), ...UsageSums });

/** One try at one provider. */
export const RequestAttempt = model('RequestAttempt', {
  model: t.String(),
  keyId: t.String({ description: 'Id of the key of the provider.' }),
  durationMs: t.Number(),
  failure: t.String({ description: 'Why it failed; absent when it answered.' }),
  status: int32(),
});

/** One request to a model, as the log has it. It never holds what was said. */
export const LoggedRequest = model('LoggedRequest', {
  requestId: t.String(),
  key: t.String({ description: 'Id of the API key, or of the person.' }),
  surface: t.String({ description: 'chat, responses, embeddings...' }),
  streamed: t.Boolean(),
  startedAt: timestamp(),
  durationMs: t.Number(),
  firstByteMs: t.Number(),
  status: int32(),
  ending: oneOf('completed', 'failed', 'stopped', 'refused'),
  requestedModel: t.String({ description: 'As the caller named it.' }),
  model: t.String({ description: 'provider/model that answered; absent when none did.' }),
  resolvedBy: t.String(),
  attempts: t.Array(RequestAttempt),
  inputTokens: tokens(),
  outputTokens: tokens(),
  cachedInputTokens: tokens(),
  cacheWriteTokens: tokens(),
  reasoningTokens: tokens(),
  images: int32(),
  seconds: t.Number(),
  characters: int64(),
  searchUnits: t.Number(),
  estimated: t.Boolean({ description: 'The tokens are a guess.' }),
  costUsd: t.Number({ description: 'Absent when the price is not known.' }),
  cache: t.String(),
  guardrails: t.Array(t.String()),
  error: t.String({ description: 'The string code of the error.' }),
});

const moment = (description: string) => t.String({ format: 'date-time', description });
const filter = {
  model: t.String({
    description: 'Asked for or answered, with or without its provider; a final * stands for any rest.',
  }),
  key: t.String({ description: 'Id of an API key or of a person.' }),
  status: t.String({
    pattern: '^([1-5][0-9]{2}|[1-5]xx)$',
    description: 'An HTTP status, or a class such as 5xx.',
  }),
  ending: oneOf('completed', 'failed', 'stopped', 'refused'),
  surface: t.String(),
  minDurationMs: t.Number({ minimum: 0 }),
  minCostUsd: t.Number({ minimum: 0 }),
};
const range = {
  since: moment('Requests that began at this time or later.'),
  until: moment('Requests that began at this time or before.'),
};

const here = { spec: 'extra', tag: 'Usage' } as const;

/** What requests to models took, and the log of them. */
export const usage = {
  GetUsage: endpoint({
    ...here,
    id: 'GetUsage',
    method: 'GET',
    path: '/v1/usage',
    summary: 'Sum up the requests to models, by day in UTC',
    query: fields({
      groupBy: oneOf('model', 'key', 'provider', 'day', 'surface'),
      from: t.String({ description: 'A day such as 2026-01-31, or a time in it; 30 days ago when absent.' }),
      to: t.String({ description: 'The last day; today when absent.' }),
      model: t.String({ description: 'Only this provider/model.' }),
      key: t.String({ description: 'Only this API key or person.' }),
    }),
    response: model('GetUsageResponse', {
      from: t.String({ description: 'The first day.' }),
      to: t.String({ description: 'The last day.' }),
      groups: t.Array(UsageGroup),
      total: model('UsageTotal', UsageSums),
    }),
    access: 'viewer',
  }),
  ListRequests: endpoint({
    ...here,
    id: 'ListRequests',
    method: 'GET',
    path: '/v1/usage/requests',
    summary: 'List requests to models, newest first',
    query: fields({
      ...filter,
      ...range,
      limit: int32({ minimum: 1, maximum: 500 }),
      cursor: t.String({ description: 'nextCursor of the page before.' }),
    }),
    response: model('ListRequestsResponse', {
      requests: t.Array(LoggedRequest),
      nextCursor: t.String({ description: 'Where the list goes on; absent at its end.' }),
      lastId: int64({
        description: 'For "after" of the stream, which then has what ends after this answer.',
      }),
    }),
    access: 'viewer',
  }),
  WatchRequests: endpoint({
    ...here,
    id: 'WatchRequests',
    method: 'GET',
    path: '/v1/usage/requests/stream',
    summary: 'Stream requests to models as they end',
    query: fields({
      ...filter,
      after: t.String({
        pattern: '^[0-9]{1,15}$',
        description:
          'As the header Last-Event-ID, which wins. Without either, the stream begins with what ends next.',
      }),
    }),
    headers: fields({
      'last-event-id': t.String({
        description: 'Id of the last event that was seen; the stream goes on after it.',
      }),
    }),
    response: LoggedRequest,
    stream: 'sse',
    access: 'viewer',
  }),
  ExportRequests: endpoint({
    ...here,
    id: 'ExportRequests',
    method: 'GET',
    path: '/v1/usage/requests/export',
    summary: 'Download the log of requests to models, newest first',
    query: fields({ ...filter, ...range, format: oneOf('ndjson', 'csv') }),
    response: binary('application/x-ndjson', 'text/csv'),
    stream: 'bytes',
    access: 'viewer',
  }),
  GetRequest: endpoint({
    ...here,
    id: 'GetRequest',
    method: 'GET',
    path: '/v1/usage/requests/{requestId}',
    summary: 'Show one request to a model, with its attempts',
    params: ids('requestId'),
    response: LoggedRequest,
    access: 'viewer',
  }),
} satisfies Group;
