import { createHash } from 'node:crypto';
import { backwards, inPieces, valueFor } from './fake-provider.ts';

interface Message {
  role: string;
  content?: string | { type: string; text?: string; thinking?: string; image_url?: { url: string } }[];
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_plan?: string;
  tool_call_id?: string;
}

/** What is read of a request for a chat. */
export interface Ask {
  model: string;
  messages: Message[];
  stream?: boolean;
  temperature?: number;
  tools?: { type: string; function: { name: string; parameters: object } }[];
  tool_choice?: string;
  response_format?: { type: string; json_schema?: unknown };
  thinking?: { type: string };
}

const FIELDS = [
  'model',
  'messages',
  'stream',
  'max_tokens',
  'temperature',
  'p',
  'k',
  'seed',
  'stop_sequences',
  'frequency_penalty',
  'presence_penalty',
  'tools',
  'tool_choice',
  'strict_tools',
  'response_format',
  'thinking',
  'documents',
  'citation_options',
  'safety_mode',
  'priority',
  'logprobs',
];

/** The shape of errors. */
export function refused(message: string, status = 400): Response {
  return Response.json({ id: 'err-1', message }, { status });
}

function complaint(ask: Ask): string | undefined {
  for (const name of Object.keys(ask))
    if (!FIELDS.includes(name))
      return `invalid request: unknown field: parameter '${name}' is not a valid field`;
  if ((ask.temperature ?? 0) > 1) return 'invalid request: temperature must be between 0 and 1.0 inclusive';
  if (ask.tool_choice && !['REQUIRED', 'NONE'].includes(ask.tool_choice))
    return 'invalid request: tool_choice';
  if (ask.tools?.some(({ function: { parameters } }) => typeof parameters !== 'object'))
    return 'invalid request: tools.parameters';
  const ids = new Set(ask.messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)));
  for (const message of ask.messages) {
    if (!['system', 'user', 'assistant', 'tool'].includes(message.role)) return 'invalid request: role';
    if (message.role === 'tool' && !ids.has(message.tool_call_id ?? ''))
      return `invalid request: cannot find tool call ${message.tool_call_id}`;
    if (message.role === 'assistant' && !message.content && !message.tool_calls)
      return 'invalid request: an assistant message must have content or tool_calls';
    if (
      message.tool_calls &&
      message.tool_plan !== planOf(message.tool_calls.length) &&
      message.tool_plan !== undefined
    )
      return 'invalid request: the plan was changed';
  }
  return undefined;
}

const planOf = (count: number) => `I will call ${count} tools. `;

function textIn({ content = '' }: Message): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(' ');
}

function answerOf(ask: Ask) {
  const said = backwards(textIn(ask.messages.findLast(({ role }) => role === 'user') ?? { role: '' })).join(
    ' ',
  );
  const results = ask.messages
    .slice(ask.messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    .filter(({ role }) => role === 'tool');
  const thinking = ask.thinking?.type === 'enabled' ? `I turn ${said.length} letters. ` : '';
  const calls = results.length > 0 || ask.tool_choice === 'NONE' ? [] : (ask.tools ?? []);
  const tool_calls = calls.map((tool, place) => ({
    id: `${tool.function.name}_${place}`,
    type: 'function',
    function: {
      name: tool.function.name,
      arguments: JSON.stringify(valueFor(tool.function.parameters, said)),
    },
  }));
  const images = ask.messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.flatMap(({ image_url }) => image_url?.url.slice(0, 22) ?? []) : [],
  );
  const text =
    results.length > 0
      ? results.map((message) => `${message.tool_call_id} gave ${textIn(message)}`).join('; ')
      : ask.response_format?.type === 'json_object'
        ? JSON.stringify(valueFor(ask.response_format.json_schema ?? { type: 'object' }, said))
        : [said, ...images].join(' ');
  return {
    thinking,
    tool_calls,
    text: tool_calls.length > 0 ? '' : text,
    plan: tool_calls.length > 0 ? planOf(tool_calls.length) : '',
  };
}

/** Answers a chat, whole or as events. */
export function chat(ask: Ask, signal: AbortSignal): Response {
  const wrong = complaint(ask);
  if (wrong) return refused(wrong);
  const { thinking, tool_calls, text, plan } = answerOf(ask);
  const finish_reason =
    ask.model === 'fails-inside' ? 'ERROR' : tool_calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE';
  const tokens = {
    input_tokens: JSON.stringify(ask.messages).split(' ').length,
    output_tokens: `${thinking}${text}${plan}`.split(' ').length,
  };
  const usage = { billed_units: { input_tokens: 1, output_tokens: 1 }, tokens, cached_tokens: 0 };
  const id = 'c14c80c3-18eb-4519-9460-6c92edd8cfb4';
  if (!ask.stream) {
    const content = [
      ...(thinking ? [{ type: 'thinking', thinking }] : []),
      ...(text ? [{ type: 'text', text }] : []),
    ];
    const message = {
      role: 'assistant',
      ...(content.length > 0 ? { content } : {}),
      ...(plan ? { tool_plan: plan, tool_calls } : {}),
    };
    return Response.json({ id, finish_reason, message, usage });
  }
  const events: { type: string; [name: string]: unknown }[] = [
    {
      type: 'message-start',
      id,
      delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
    },
    ...pieces('thinking', thinking, 0),
    ...(plan.match(/\S+\s*/g) ?? []).map((tool_plan) => ({
      type: 'tool-plan-delta',
      delta: { message: { tool_plan } },
    })),
    ...pieces('text', text, thinking ? 1 : 0),
    ...tool_calls.flatMap((call, index) => callEvents(call, index)),
    { type: 'message-end', delta: { finish_reason, usage } },
  ];
  const bytes = new TextEncoder().encode(
    [
      ...events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
      'data: [DONE]\n\n',
    ].join(''),
  );
  return new Response(inPieces(bytes, ask.model, signal), {
    headers: { 'content-type': 'text/event-stream' },
  });
}

function pieces(kind: 'text' | 'thinking', text: string, index: number) {
  if (text === '') return [];
  const delta = (value: string) => ({
    type: 'content-delta',
    index,
    delta: { message: { content: { [kind]: value } } },
  });
  return [
    { type: 'content-start', index, delta: { message: { content: { type: kind, [kind]: '' } } } },
    ...(text.match(/\S+\s*/g) ?? []).map(delta),
    { type: 'content-end', index },
  ];
}

function callEvents(
  call: { id: string; type: string; function: { name: string; arguments: string } },
  index: number,
) {
  const start = { ...call, function: { name: call.function.name, arguments: '' } };
  const deltas = call.function.arguments.match(/.{1,6}/gs) ?? [];
  return [
    { type: 'tool-call-start', index, delta: { message: { tool_calls: start } } },
    ...deltas.map((text) => ({
      type: 'tool-call-delta',
      index,
      delta: { message: { tool_calls: { function: { arguments: text } } } },
    })),
    { type: 'tool-call-end', index },
  ];
}

/** Vectors that depend on every character of a text. */
export function embed({
  texts,
  input_type,
  embedding_types,
  output_dimension = 4,
}: {
  texts: string[];
  input_type?: string;
  embedding_types?: string[];
  output_dimension?: number;
}): Response {
  if (!input_type) return refused('invalid request: input_type must be set');
  if (texts.length > 96) return refused('invalid request: total number of texts must be at most 96');
  const float = texts.map((text) =>
    Array.from(
      { length: output_dimension },
      (_, place) => (createHash('sha256').update(text).digest()[place % 32] ?? 0) / 256,
    ),
  );
  return Response.json({
    id: 'e1',
    embeddings: { [embedding_types?.[0] ?? 'float']: float },
    texts,
    meta: { billed_units: { input_tokens: texts.length * 2 } },
  });
}

/** Ranks by how many words of the query a document has. */
export function rerank({
  query,
  documents,
  top_n,
  model,
}: {
  query: string;
  documents: string[];
  top_n?: number;
  model: string;
}): Response {
  if (documents.length === 0 || !documents.every((text) => typeof text === 'string'))
    return refused('invalid request: list of documents must not be empty');
  const words = new Set(query.toLowerCase().split(/\s+/));
  const results = documents
    .map((text, index) => ({
      index,
      relevance_score:
        text
          .toLowerCase()
          .split(/\s+/)
          .filter((word) => words.has(word)).length / words.size,
    }))
    .toSorted((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, top_n ?? documents.length);
  return Response.json({
    id: `rerank-${model}`,
    results,
    meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
  });
}
