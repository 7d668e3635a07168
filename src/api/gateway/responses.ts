import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, nullable, object, oneOf, open, stringMap, struct, t } from '../schema.ts';

/** One item of the input or the output of a response: a message, a call, its result, reasoning, by `type`. Clients send what they were given back with nulls in it. */
export const ResponseItem = open(
  'ResponseItem',
  {},
  {
    type: t.String(),
    id: nullable(t.String()),
    status: nullable(t.String()),
    role: oneOf('user', 'assistant', 'system', 'developer'),
    content: t.Union([
      t.Null(),
      t.String(),
      t.Array(
        open(
          'ResponseContent',
          { type: t.String() },
          { text: t.String(), image_url: nullable(t.String()), file_id: nullable(t.String()) },
        ),
      ),
    ]),
    call_id: t.String(),
    name: t.String(),
    arguments: t.String({ description: 'JSON text.' }),
    output: t.Union([t.Null(), t.String(), t.Array(struct())]),
    summary: nullable(t.Array(struct())),
  },
);

const Reasoning = open('Reasoning', {}, { effort: nullable(t.String()), summary: nullable(t.String()) });
const Tool = open(
  'Tool',
  { type: t.String() },
  {
    name: t.String(),
    description: nullable(t.String()),
    parameters: nullable(struct()),
    strict: nullable(t.Boolean()),
  },
);

const settings = {
  background: nullable(t.Boolean()),
  max_output_tokens: nullable(t.Integer({ minimum: 1 })),
  max_tool_calls: nullable(t.Integer({ minimum: 1 })),
  metadata: nullable(stringMap()),
  previous_response_id: nullable(t.String()),
  reasoning: nullable(Reasoning),
  service_tier: nullable(t.String()),
  store: nullable(t.Boolean()),
  text: open('ResponseText', {}, { format: struct(), verbosity: nullable(t.String()) }),
  truncation: nullable(oneOf('auto', 'disabled')),
  user: t.String(),
};
const temperature = nullable(t.Number({ minimum: 0, maximum: 2 }));
const top_p = nullable(t.Number({ minimum: 0, maximum: 1 }));
const tool_choice = t.Union([t.String(), open('ResponseToolChoice', { type: t.String() })]);

/** A wish for a response, as stock clients send it. */
export const ResponseRequest = open(
  'CreateResponseRequest',
  { model: t.String({ minLength: 1 }) },
  {
    ...settings,
    input: t.Union([t.String(), t.Array(ResponseItem)]),
    instructions: nullable(t.String()),
    include: nullable(t.Array(t.String())),
    parallel_tool_calls: nullable(t.Boolean()),
    stream: nullable(t.Boolean()),
    temperature,
    tool_choice,
    tools: t.Array(Tool),
    top_p,
  },
);

const ResponseUsage = open('ResponseTokenUsage', {
  input_tokens: t.Integer(),
  input_tokens_details: open('InputTokensDetails', {}, { cached_tokens: t.Integer() }),
  output_tokens: t.Integer(),
  output_tokens_details: open('OutputTokensDetails', {}, { reasoning_tokens: t.Integer() }),
  total_tokens: t.Integer(),
});

/** A response. */
export const StoredResponse = open(
  'Response',
  {
    id: t.String(),
    object: t.Literal('response'),
    created_at: t.Number({ description: 'Unix time in seconds.' }),
    status: oneOf('completed', 'failed', 'in_progress', 'cancelled', 'queued', 'incomplete'),
    error: nullable(open('ResponseFailure', { code: t.String(), message: t.String() })),
    incomplete_details: nullable(open('ResponseIncompleteDetails', {}, { reason: t.String() })),
    model: t.String(),
    output: t.Array(ResponseItem),
  },
  {
    ...settings,
    completed_at: nullable(t.Number()),
    instructions: nullable(t.Union([t.String(), t.Array(ResponseItem)])),
    parallel_tool_calls: t.Boolean(),
    temperature: nullable(t.Number()),
    tool_choice,
    tools: t.Array(Tool),
    top_p: nullable(t.Number()),
    usage: nullable(ResponseUsage),
  },
);

/** One event of a streamed response. */
export const ResponseStreamEvent = open(
  'ResponseStreamEvent',
  { type: t.String({ description: 'Such as response.created or response.output_text.delta.' }) },
  {
    sequence_number: t.Integer(),
    response: StoredResponse,
    item: ResponseItem,
    item_id: t.String(),
    output_index: t.Integer(),
    content_index: t.Integer(),
    delta: t.String(),
  },
);

const here = { spec: 'gateway', tag: 'Responses' } as const;

/** Responses, in the wire format of stock clients. */
export const responses = {
  CreateResponse: endpoint({
    ...here,
    id: 'CreateResponse',
    method: 'POST',
    path: '/compat/v1/responses',
    summary: 'Respond to an input, using tools as needed',
    body: ResponseRequest,
    bodyLimit: 64 * 1024 * 1024,
    response: StoredResponse,
    chunk: ResponseStreamEvent,
    access: 'member',
  }),
  GetResponse: endpoint({
    ...here,
    id: 'GetResponse',
    method: 'GET',
    path: '/compat/v1/responses/{responseId}',
    summary: 'Get a stored response, or the events of one that is made in the background',
    params: ids('responseId'),
    query: fields({
      stream: t.Boolean({ description: 'Answers the events of a response in the background, as they come.' }),
      starting_after: t.Integer({ minimum: -1, description: 'Number of the event to go on after.' }),
      include: t.Array(t.String()),
      include_obfuscation: t.Boolean(),
    }),
    response: StoredResponse,
    chunk: ResponseStreamEvent,
    access: 'viewer',
  }),
  DeleteResponse: endpoint({
    ...here,
    id: 'DeleteResponse',
    method: 'DELETE',
    path: '/compat/v1/responses/{responseId}',
    summary: 'Delete a stored response',
    params: ids('responseId'),
    response: object('DeletedResponse', { id: t.String(), object: t.String(), deleted: t.Boolean() }),
    access: 'member',
  }),
  CancelResponse: endpoint({
    ...here,
    id: 'CancelResponse',
    method: 'POST',
    path: '/compat/v1/responses/{responseId}/cancel',
    summary: 'Stop a response that runs in the background',
    params: ids('responseId'),
    response: StoredResponse,
    access: 'member',
  }),
  ListResponseInputItems: endpoint({
    ...here,
    spec: 'extra',
    id: 'ListResponseInputItems',
    method: 'GET',
    path: '/compat/v1/responses/{responseId}/input_items',
    summary: 'List the input of a stored response',
    params: ids('responseId'),
    query: fields({
      after: t.String(),
      limit: t.Integer({ minimum: 1, maximum: 100 }),
      order: oneOf('asc', 'desc'),
      include: t.Array(t.String()),
    }),
    response: object('ResponseItemList', {
      object: t.Literal('list'),
      data: t.Array(ResponseItem),
      first_id: nullable(t.String()),
      last_id: nullable(t.String()),
      has_more: t.Boolean(),
    }),
    access: 'viewer',
  }),
} satisfies Group;
