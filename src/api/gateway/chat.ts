import { endpoint, type Group } from '../endpoint.ts';
import { nullable, object, oneOf, open, stringMap, struct, t } from '../schema.ts';

/** One part of a message: text, an image, sound or a file, told apart by `type`. */
export const ChatContentPart = open(
  'ChatContentPart',
  { type: t.String() },
  {
    text: t.String(),
    refusal: t.String(),
    image_url: open('ChatImageUrl', { url: t.String() }, { detail: t.String() }),
    input_audio: open('ChatInputAudio', { data: t.String(), format: t.String() }),
    file: struct(),
  },
);

/** A call of a function that the model asks for. `arguments` is JSON text. */
export const ChatToolCall = open(
  'ChatToolCall',
  { id: t.String(), type: t.String() },
  { function: object('ChatFunctionCall', { name: t.String(), arguments: t.String() }) },
);

/** A message of a conversation. Which fields it has follows from its role. */
export const ChatMessage = open(
  'ChatMessage',
  { role: oneOf('system', 'developer', 'user', 'assistant', 'tool', 'function') },
  {
    content: nullable(t.Union([t.String(), t.Array(ChatContentPart)])),
    name: t.String(),
    refusal: nullable(t.String()),
    tool_calls: t.Array(ChatToolCall),
    tool_call_id: t.String(),
    provider_content: t.Array(t.Unknown(), { description: 'Opaque; to be sent back unchanged.' }),
  },
);

/** A tool that the model may call. */
export const ChatTool = open(
  'ChatTool',
  { type: t.String() },
  {
    function: open(
      'ChatFunction',
      { name: t.String() },
      { description: t.String(), parameters: struct(), strict: nullable(t.Boolean()) },
    ),
  },
);

/** Where a completion may stop. */
export const StopSequences = t.Union([t.String(), t.Array(t.String())]);

/** Whether the last event of a stream reports usage. */
export const StreamOptions = open('StreamOptions', {}, { include_usage: t.Boolean() });

/** A chat completion, as stock clients of this family ask for it. */
export const ChatCompletionRequest = open(
  'CreateChatCompletionRequest',
  { model: t.String({ minLength: 1 }), messages: t.Array(ChatMessage, { minItems: 1 }) },
  {
    frequency_penalty: nullable(t.Number()),
    logit_bias: nullable(t.Record(t.String(), t.Number())),
    logprobs: nullable(t.Boolean()),
    max_completion_tokens: nullable(t.Integer()),
    max_tokens: nullable(t.Integer()),
    metadata: nullable(stringMap()),
    n: nullable(t.Integer({ minimum: 1 })),
    parallel_tool_calls: t.Boolean(),
    presence_penalty: nullable(t.Number()),
    reasoning_effort: nullable(t.String()),
    response_format: open('ChatResponseFormat', { type: t.String() }, { json_schema: struct() }),
    seed: nullable(t.Integer()),
    service_tier: nullable(t.String()),
    stop: nullable(StopSequences),
    store: nullable(t.Boolean()),
    stream: nullable(t.Boolean()),
    stream_options: nullable(StreamOptions),
    temperature: nullable(t.Number({ minimum: 0, maximum: 2 })),
    tool_choice: t.Union([t.String(), open('ChatToolChoice', { type: t.String() })]),
    tools: t.Array(ChatTool),
    top_logprobs: nullable(t.Integer()),
    top_p: nullable(t.Number({ minimum: 0, maximum: 1 })),
    user: t.String(),
  },
);

/** The tokens that a completion took. */
export const CompletionUsage = open(
  'CompletionUsage',
  { prompt_tokens: t.Integer(), completion_tokens: t.Integer(), total_tokens: t.Integer() },
  {
    prompt_tokens_details: nullable(open('PromptTokensDetails', {}, { cached_tokens: t.Integer() })),
    completion_tokens_details: nullable(
      open('CompletionTokensDetails', {}, { reasoning_tokens: t.Integer() }),
    ),
  },
);

/** The answer to a chat completion. */
export const ChatCompletion = open(
  'ChatCompletion',
  {
    id: t.String(),
    object: t.Literal('chat.completion'),
    created: t.Integer(),
    model: t.String(),
    choices: t.Array(
      open(
        'ChatChoice',
        { index: t.Integer(), message: ChatMessage, finish_reason: nullable(t.String()) },
        { logprobs: nullable(struct()) },
      ),
    ),
  },
  {
    usage: nullable(CompletionUsage),
    service_tier: nullable(t.String()),
    system_fingerprint: nullable(t.String()),
  },
);

const ChatDelta = open(
  'ChatDelta',
  {},
  {
    role: t.String(),
    content: nullable(t.String()),
    refusal: nullable(t.String()),
    tool_calls: t.Array(
      open(
        'ChatToolCallDelta',
        { index: t.Integer() },
        {
          id: t.String(),
          type: t.String(),
          function: open('ChatFunctionCallDelta', {}, { name: t.String(), arguments: t.String() }),
        },
      ),
    ),
    provider_content: t.Array(t.Unknown()),
  },
);

/** One event of a streamed chat completion. The stream ends with the text `[DONE]`. */
export const ChatCompletionChunk = open(
  'ChatCompletionChunk',
  {
    id: t.String(),
    object: t.Literal('chat.completion.chunk'),
    created: t.Integer(),
    model: t.String(),
    choices: t.Array(
      open(
        'ChatChunkChoice',
        { index: t.Integer(), delta: ChatDelta },
        { finish_reason: nullable(t.String()), logprobs: nullable(struct()) },
      ),
    ),
  },
  {
    usage: nullable(CompletionUsage),
    service_tier: nullable(t.String()),
    system_fingerprint: nullable(t.String()),
  },
);

/** Chat completions, in the wire format of stock clients. */
export const chat = {
  ChatCompletion: endpoint({
    spec: 'gateway',
    tag: 'Chat',
    id: 'ChatCompletion',
    method: 'POST',
    path: '/compat/v1/chat/completions',
    summary: 'Complete a conversation',
    body: ChatCompletionRequest,
    bodyLimit: 64 * 1024 * 1024,
    response: ChatCompletion,
    chunk: ChatCompletionChunk,
    access: 'member',
  }),
} satisfies Group;
