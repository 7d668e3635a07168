import { endpoint, type Group } from '../endpoint.ts';
import { nullable, object, oneOf, open, struct, t, timestamp } from '../schema.ts';

/** Where a picture or a document is: `base64`, `url`, `text`, `content` or `file`, told apart by `type`. */
export const MessagesSource = open(
  'MessagesSource',
  { type: t.String() },
  {
    media_type: t.String(),
    data: t.String(),
    url: t.String(),
    file_id: t.String(),
    content: t.Union([
      t.String(),
      t.Array(open('MessagesSourcePart', { type: t.String() }, { text: t.String() })),
    ]),
  },
);

/** One block of a message: text, picture, document, call or result of a tool, thinking; told apart by `type`. */
export const MessagesBlock = open(
  'MessagesBlock',
  { type: t.String() },
  {
    text: t.String(),
    source: t.Union([MessagesSource, t.String()]),
    title: nullable(t.String()),
    id: t.String(),
    name: t.String(),
    input: t.Unknown(),
    tool_use_id: t.String(),
    content: t.Unknown(),
    is_error: nullable(t.Boolean()),
    thinking: t.String(),
    signature: t.String(),
    data: t.String(),
    citations: t.Unknown(),
    cache_control: nullable(struct()),
  },
);

/** Text, or blocks. */
export const MessagesContent = t.Union([t.String(), t.Array(MessagesBlock)]);

/** One turn of a conversation. */
export const MessagesTurn = open('MessagesTurn', {
  role: oneOf('user', 'assistant', 'system'),
  content: MessagesContent,
});

/** A tool that the model may call; those with a `type` of their own are built into their provider. */
export const MessagesTool = open(
  'MessagesTool',
  {},
  {
    name: t.String(),
    type: nullable(t.String()),
    description: t.String(),
    input_schema: struct(),
    strict: nullable(t.Boolean()),
    cache_control: nullable(struct()),
  },
);

/** Whether and which tools the model calls. */
export const MessagesToolChoice = open(
  'MessagesToolChoice',
  { type: t.String() },
  { name: t.String(), disable_parallel_tool_use: t.Boolean() },
);

const conversation = {
  system: t.Union([t.String(), t.Array(MessagesBlock)]),
  tools: t.Array(MessagesTool),
  tool_choice: MessagesToolChoice,
  thinking: open(
    'MessagesThinking',
    { type: t.String() },
    { budget_tokens: t.Integer(), display: nullable(t.String()) },
  ),
  output_config: open(
    'MessagesOutputConfig',
    {},
    {
      effort: nullable(t.String()),
      format: nullable(open('MessagesOutputFormat', { type: t.String() }, { schema: struct() })),
    },
  ),
  cache_control: nullable(struct()),
};

/** A message, as stock clients of this family ask for it. */
export const MessagesRequest = open(
  'CreateMessageRequest',
  {
    model: t.String({ minLength: 1 }),
    messages: t.Array(MessagesTurn, { minItems: 1 }),
    max_tokens: t.Integer({ minimum: 0 }),
  },
  {
    ...conversation,
    metadata: nullable(open('MessagesMetadata', {}, { user_id: nullable(t.String()) })),
    service_tier: t.String(),
    stop_sequences: t.Array(t.String()),
    stream: nullable(t.Boolean()),
    temperature: nullable(t.Number({ minimum: 0, maximum: 1 })),
    top_k: nullable(t.Integer()),
    top_p: nullable(t.Number({ minimum: 0, maximum: 1 })),
  },
);

/** The tokens that a message took. `input_tokens` leaves out those that were read from or written to a cache. */
export const MessagesUsage = open(
  'MessagesUsage',
  {},
  {
    input_tokens: nullable(t.Integer()),
    output_tokens: t.Integer(),
    cache_creation_input_tokens: nullable(t.Integer()),
    cache_read_input_tokens: nullable(t.Integer()),
    output_tokens_details: nullable(open('MessagesOutputDetails', {}, { thinking_tokens: t.Integer() })),
    service_tier: nullable(t.String()),
  },
);

/** The answer: one message of the assistant. */
export const MessagesMessage = open(
  'MessagesMessage',
  {
    id: t.String(),
    type: t.Literal('message'),
    role: t.Literal('assistant'),
    model: t.String(),
    content: t.Array(MessagesBlock),
    stop_reason: nullable(t.String()),
    stop_sequence: nullable(t.String()),
    usage: MessagesUsage,
  },
  { stop_details: nullable(open('MessagesStopDetails', {}, { explanation: nullable(t.String()) })) },
);

/** One event of a streamed message, told apart by `type`. The event's name is the same. */
export const MessagesEvent = open(
  'MessagesEvent',
  { type: t.String() },
  {
    index: t.Integer(),
    message: MessagesMessage,
    content_block: MessagesBlock,
    delta: open(
      'MessagesDelta',
      {},
      {
        type: t.String(),
        text: t.String(),
        thinking: t.String(),
        signature: t.String(),
        partial_json: t.String(),
        citation: struct(),
        stop_reason: nullable(t.String()),
        stop_sequence: nullable(t.String()),
        stop_details: nullable(open('MessagesDeltaStop', {}, { explanation: nullable(t.String()) })),
      },
    ),
    usage: MessagesUsage,
    error: open('MessagesError', { type: t.String(), message: t.String() }),
  },
);

/** A conversation whose tokens are to be counted. */
export const MessagesCountRequest = open(
  'CountMessageTokensRequest',
  { model: t.String({ minLength: 1 }), messages: t.Array(MessagesTurn, { minItems: 1 }) },
  conversation,
);

/** A model that calls may name, as clients of this family list them. */
export const MessagesModel = open('MessagesModel', {
  type: t.Literal('model'),
  id: t.String(),
  display_name: t.String(),
  created_at: timestamp(),
});

const tagged = { spec: 'extra', tag: 'Messages' } as const;
const here = { ...tagged, method: 'POST', bodyLimit: 64 * 1024 * 1024 } as const;

/** Messages, in the wire format of stock clients of that family. */
export const messages = {
  CreateMessage: endpoint({
    ...here,
    id: 'CreateMessage',
    path: '/compat/anthropic/v1/messages',
    summary: 'Answer a conversation with a message, by any model',
    body: MessagesRequest,
    response: MessagesMessage,
    chunk: MessagesEvent,
    access: 'member',
  }),
  CountMessageTokens: endpoint({
    ...here,
    id: 'CountMessageTokens',
    path: '/compat/anthropic/v1/messages/count_tokens',
    summary: 'Count the tokens of a conversation, where the provider of the model counts them',
    body: MessagesCountRequest,
    response: object('MessagesTokenCount', { input_tokens: t.Integer() }),
    access: 'member',
  }),
  ListMessagesModels: endpoint({
    ...tagged,
    id: 'ListMessagesModels',
    method: 'GET',
    path: '/compat/anthropic/v1/models',
    summary: 'List the models that calls may name, all on one page',
    response: object('MessagesModelList', {
      data: t.Array(MessagesModel),
      has_more: t.Boolean(),
      first_id: nullable(t.String()),
      last_id: nullable(t.String()),
    }),
    access: 'viewer',
  }),
} satisfies Group;
