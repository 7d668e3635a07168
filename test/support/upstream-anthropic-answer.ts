import {
  type FakeBlock,
  type FakeMessagesRequest,
  type Json,
  signatureOf,
} from './upstream-anthropic-rules.ts';

/** An answer before it is put on the wire. */
export interface FakeMessage extends Json {
  readonly id: string;
  readonly content: readonly FakeBlock[];
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: Json | null;
  readonly usage: FakeUsage;
}

interface FakeUsage extends Json {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

const CALLER = { type: 'direct' };
/** What stands in caches, by its text. */
const cached = new Set<string>();
let answered = 0;

/** What it says to a request: the user's words, or those of the tools' results, backwards; with a word for every picture and document. */
export function wordsFor({ messages }: FakeMessagesRequest): string[] {
  const last = messages.findLast(({ role }) => role === 'user')?.content ?? [];
  return last.map(textIn).join(' ').split(/\s+/).filter(Boolean).toReversed();
}

/** The answer to a request that was found right. */
export function messageFor(request: FakeMessagesRequest): FakeMessage {
  const { content, ...end } = shortened(blocksFor(request), request);
  const output = JSON.stringify(content).split(/\s+/).length;
  const thoughts = content.filter(({ type }) => type.endsWith('thinking')).length;
  return {
    id: `msg_${String(++answered).padStart(6, '0')}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content,
    ...end,
    container: null,
    usage: {
      ...inputUsage(request),
      output_tokens: output,
      output_tokens_details: { thinking_tokens: Math.min(thoughts * 7, output) },
      service_tier: 'standard',
    },
  };
}

/** How many tokens it counts in a request: the characters of all that is said. */
export function countTokens({ messages, system }: FakeMessagesRequest): number {
  return JSON.stringify(messages).length + JSON.stringify(system ?? '').length;
}

/** The events of the same answer when it streams. Blocks come in pieces, with pings and an event of a kind that nobody knows between. */
export function eventsFor(message: FakeMessage): string[] {
  const { content, stop_reason, stop_sequence, stop_details, usage } = message;
  const begun = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { ...usage, output_tokens: 1 },
  };
  return [
    event({ type: 'message_start', message: begun }),
    event({ type: 'ping' }),
    ...content.flatMap((block, index) => [
      event({ type: 'content_block_start', index, content_block: emptied(block) }),
      ...deltasOf(block).map((delta) => event({ type: 'content_block_delta', index, delta })),
      event({ type: 'content_block_stop', index }),
    ]),
    event({ type: 'weather_changed', weather: 'rain' }),
    event({
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, stop_details },
      usage: {
        output_tokens: usage.output_tokens,
        input_tokens: null,
        output_tokens_details: usage.output_tokens_details,
      },
    }),
    event({ type: 'message_stop' }),
  ];
}

/** One event on the wire. */
export function event(data: { readonly type: string } & Json): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function textIn(block: FakeBlock): string {
  const { type, text, content, source } = block;
  if (type === 'tool_result')
    return typeof content === 'string' ? content : ((content ?? []) as FakeBlock[]).map(textIn).join(' ');
  if (type === 'text') return String(text);
  const { media_type, data, url, file_id } = source as Json;
  return `${type}:${media_type ?? 'url'}:${data ?? url ?? file_id}`;
}

function blocksFor(request: FakeMessagesRequest): FakeBlock[] {
  const words = wordsFor(request);
  const thoughts = thoughtsFor(request, words);
  const calls = callsFor(request, words);
  if (calls.length > 0)
    return [...thoughts, { type: 'text', text: 'Let me see.', citations: null }, ...calls];
  if (request.output_config?.format)
    return [
      ...thoughts,
      {
        type: 'text',
        text: JSON.stringify(sampleOf(request.output_config.format.schema, words)),
        citations: null,
      },
    ];
  if (request.tools?.some(({ type }) => type?.startsWith('web_search')))
    return [...thoughts, ...searched(words)];
  return [...thoughts, { type: 'text', text: words.join(' ') || 'nothing', citations: null }];
}

function thoughtsFor({ model, thinking }: FakeMessagesRequest, words: readonly string[]): FakeBlock[] {
  if (!thinking || thinking.type === 'disabled') return [];
  const text = `They said ${words.toReversed().join(' ')}.`;
  const thought = { type: 'thinking', thinking: text, signature: signatureOf(text) };
  return model.includes('redacts')
    ? [thought, { type: 'redacted_thinking', data: Buffer.from(text).toString('base64') }]
    : [thought];
}

/** One call of every tool, unless only one may be called; none when results have just come. */
function callsFor(request: FakeMessagesRequest, words: readonly string[]): FakeBlock[] {
  const { tools = [], tool_choice: choice, messages } = request;
  const forced = choice?.type === 'any' || choice?.type === 'tool';
  const hasResults = messages.at(-1)?.content.some(({ type }) => type === 'tool_result');
  if (choice?.type === 'none' || (hasResults && !forced)) return [];
  const own = tools.filter(
    ({ name, input_schema }) => input_schema && (choice?.type !== 'tool' || name === choice.name),
  );
  return own
    .slice(0, choice?.disable_parallel_tool_use ? 1 : own.length)
    .map(({ name, input_schema }, i) => ({
      type: 'tool_use',
      id: `toolu_${messages.length}_${i}`,
      name,
      input: sampleOf(input_schema ?? {}, words),
      caller: CALLER,
    }));
}

/** A value of a schema, made of the words; an object without declared fields gets the field `text`. */
function sampleOf(schema: Json, words: readonly string[]): unknown {
  const { type, properties, items } = schema as {
    type?: string;
    properties?: Record<string, Json>;
    items?: Json;
  };
  if (type === 'array') return words.map((word) => sampleOf(items ?? {}, [word]));
  if (type === 'number' || type === 'integer') return words.length;
  if (type === 'boolean') return words.length > 0;
  if (type !== 'object') return words.join(' ');
  if (!properties) return { text: words.join(' ') };
  return Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, sampleOf(inner, words)]),
  );
}

function searched(words: readonly string[]): FakeBlock[] {
  const id = 'srvtoolu_1';
  const page = {
    type: 'web_search_result',
    url: 'https://example.com/a',
    title: 'A page',
    encrypted_content: 'ZW5j',
    page_age: null,
  };
  const citation = {
    type: 'web_search_result_location',
    url: page.url,
    title: page.title,
    encrypted_index: 'aW5k',
    cited_text: 'so',
  };
  return [
    { type: 'text', text: 'I will look. ', citations: null },
    { type: 'server_tool_use', id, name: 'web_search', input: { query: words.join(' ') }, caller: CALLER },
    { type: 'web_search_tool_result', tool_use_id: id, content: [page], caller: CALLER },
    { type: 'text', text: words.join(' '), citations: [citation] },
  ];
}

type Ended = Pick<FakeMessage, 'content' | 'stop_reason' | 'stop_sequence' | 'stop_details'>;

function shortened(blocks: FakeBlock[], request: FakeMessagesRequest): Ended {
  const ended = (stop_reason: string, content = blocks, stop_sequence: string | null = null): Ended => ({
    content,
    stop_reason,
    stop_sequence,
    stop_details:
      stop_reason === 'refusal' ? { type: 'refusal', category: null, explanation: 'I will not.' } : null,
  });
  if (request.model === 'refuses') return ended('refusal', []);
  if (request.model === 'pauses') return ended('pause_turn');
  if (request.model === 'fills-window') return ended('model_context_window_exceeded');
  if (blocks.some(({ type }) => type === 'tool_use')) return ended('tool_use');
  const last = blocks.at(-1);
  const text = String(last?.text ?? '');
  const stop = request.stop_sequences?.find((one) => text.includes(one));
  const cut = (kept: string) => [
    ...blocks.slice(0, -1),
    ...(kept === '' ? [] : [{ ...last, type: 'text', text: kept }]),
  ];
  if (stop !== undefined) return ended('stop_sequence', cut(text.slice(0, text.indexOf(stop))), stop);
  const words = text.split(' ');
  return words.length > request.max_tokens
    ? ended('max_tokens', cut(words.slice(0, request.max_tokens).join(' ')))
    : ended('end_turn');
}

/** What is marked for the cache is written to it the first time and read from it after that. */
function inputUsage(request: FakeMessagesRequest) {
  let [written, read] = [0, 0];
  const marked = [
    ...(Array.isArray(request.system) ? request.system : []),
    ...request.messages.flatMap(({ content }) => content),
  ];
  for (const block of marked.filter(({ cache_control }) => cache_control)) {
    const text = `${request.model} ${JSON.stringify(block)}`;
    if (cached.has(text)) read += text.length;
    else written += text.length;
    cached.add(text);
  }
  return {
    input_tokens: countTokens(request),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
  };
}

function emptied(block: FakeBlock): FakeBlock {
  if (block.type === 'text') return { ...block, text: '', citations: null };
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return block.type === 'tool_use' || block.type === 'server_tool_use' ? { ...block, input: {} } : block;
}

function deltasOf(block: FakeBlock): Json[] {
  const { type, text, thinking, signature, input, citations } = block;
  if (type === 'text')
    return [
      ...pieces(String(text)).map((piece) => ({ type: 'text_delta', text: piece })),
      ...((citations ?? []) as Json[]).map((citation) => ({ type: 'citations_delta', citation })),
    ];
  if (type === 'thinking')
    return [
      ...pieces(String(thinking)).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ];
  if (type !== 'tool_use' && type !== 'server_tool_use') return [];
  const json = Object.keys(input as Json).length === 0 ? [] : pieces(JSON.stringify(input));
  return ['', ...json].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
}

/** Words with the space before them. */
function pieces(text: string): string[] {
  return text.match(/^\S+|\s+\S*/g) ?? [];
}
