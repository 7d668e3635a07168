import { valueFor } from './fake-provider.ts';

/** What the test upstream reads of a wish for a response. */
export interface FakeResponseRequest extends Record<string, unknown> {
  readonly model: string;
  readonly input: string | readonly FakeItem[];
  readonly stream?: boolean;
  readonly include?: readonly string[];
  readonly reasoning?: object | null;
  readonly tools?: ReadonlyArray<{ type: string; name?: string }>;
  readonly text?: { readonly format?: { readonly type: string; readonly schema?: unknown } };
}

interface FakeItem extends Record<string, unknown> {
  readonly type?: string;
  readonly id?: string;
  readonly role?: string;
  readonly content?: unknown;
}

interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly param: string;
}

const CREATED = 1_700_000_123;
const SEAL = 'sealed-by-test-upstream:';

/** What it refuses: it keeps nothing, so whatever points at something kept leads nowhere, and seals of others do not open. */
export function refusalOf({
  input,
  store,
  previous_response_id,
  include,
  reasoning,
}: FakeResponseRequest): Refusal | undefined {
  const no = (message: string, param: string) => ({ status: 400, message, param });
  if (store !== false || previous_response_id) return no('nothing is kept here', 'previous_response_id');
  if (include?.includes('reasoning.encrypted_content') && !reasoning)
    return no('Encrypted content is not supported with this model.', 'include');
  for (const item of typeof input === 'string' ? [] : input) {
    const opens = String(item.encrypted_content ?? '').startsWith(SEAL);
    if (item.type === 'reasoning' ? !opens : item.id !== undefined)
      return { status: 404, message: `Item with id '${item.id}' not found.`, param: 'input' };
  }
  return undefined;
}

/** The response that does not stream. */
export function wholeResponse(request: FakeResponseRequest): object {
  return {
    ...head(request),
    status: 'completed',
    completed_at: CREATED + 1,
    output: outputOf(request),
    usage: usageOf(request),
  };
}

/** The events of the response that streams, as text. Words come one by one. */
export function responseEvents(request: FakeResponseRequest): string {
  let number = 0;
  const event = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...fields })}\n\n`;
  const begun = { ...head(request), status: 'in_progress', output: [], usage: null };
  return [
    event('response.created', { response: begun }),
    event('response.in_progress', { response: begun }),
    ...outputOf(request).flatMap((item, output_index) => itemEvents(item, output_index, event)),
    event('response.completed', { response: wholeResponse(request) }),
  ].join('');
}

function itemEvents(
  item: FakeItem,
  output_index: number,
  event: (type: string, fields: object) => string,
): string[] {
  const of = { item_id: item.id, output_index };
  const added = event('response.output_item.added', { output_index, item: { ...item, ...empty(item) } });
  const done = () => event('response.output_item.done', { output_index, item });
  if (item.type === 'function_call') {
    const given = String(item.arguments);
    const deltas = [given.slice(0, 5), given.slice(5)].map((delta) =>
      event('response.function_call_arguments.delta', { ...of, delta }),
    );
    return [
      added,
      ...deltas,
      event('response.function_call_arguments.done', { ...of, arguments: given }),
      done(),
    ];
  }
  if (item.type !== 'message') return [added, done()];
  const [part] = item.content as Array<{ text: string }>;
  const at = { ...of, content_index: 0 };
  const words = part?.text.split(/(?<= )/) ?? [];
  return [
    added,
    event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
    ...words.map((delta) => event('response.output_text.delta', { ...at, delta, logprobs: [] })),
    event('response.output_text.done', { ...at, text: part?.text, logprobs: [] }),
    event('response.content_part.done', { ...at, part }),
    done(),
  ];
}

function empty({ type }: FakeItem): object {
  const status = { status: 'in_progress' };
  if (type === 'message') return { ...status, content: [] };
  return type === 'function_call' ? { ...status, arguments: '' } : {};
}

function head(request: FakeResponseRequest) {
  const {
    model,
    tools = [],
    instructions = null,
    metadata = {},
    text = { format: { type: 'text' } },
  } = request;
  return {
    id: `resp_vendor_${Bun.hash(JSON.stringify(request)).toString(16)}`,
    object: 'response',
    created_at: CREATED,
    model: `${model}-2026-01-01`,
    background: false,
    error: null,
    incomplete_details: null,
    instructions,
    metadata,
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: 1,
    text,
    tool_choice: 'auto',
    tools,
    top_p: 1,
    vendor_field: 'kept',
  };
}

/** Calls every tool with the user's words backwards; after a result it says that. */
function outputOf(request: FakeResponseRequest): FakeItem[] {
  const said = wordsOf(request).join(' ');
  const format = request.text?.format;
  const text = format?.type === 'json_schema' ? JSON.stringify(valueFor(format.schema, said)) : said;
  const calls = (request.tools ?? []).flatMap(({ type, name }, i) =>
    type === 'function' && !isAfterResult(request)
      ? [
          {
            type: 'function_call',
            id: `fc_v${i}`,
            call_id: `call_${i}`,
            name,
            arguments: JSON.stringify({ text }),
            status: 'completed',
          },
        ]
      : [],
  );
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  const message = { type: 'message', id: 'msg_v1', status: 'completed', role: 'assistant', content };
  return [...thoughts(request), ...(calls.length > 0 ? calls : [message])];
}

function thoughts({ reasoning, include }: FakeResponseRequest): FakeItem[] {
  if (!reasoning) return [];
  const sealed = include?.includes('reasoning.encrypted_content') ? { encrypted_content: `${SEAL}1` } : {};
  return [{ type: 'reasoning', id: 'rs_v1', summary: [], ...sealed }];
}

function wordsOf({ input }: FakeResponseRequest): string[] {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const last = items.findLast(({ type, role }) => role === 'user' || type === 'function_call_output');
  const content = last?.content ?? last?.output;
  const text = Array.isArray(content)
    ? content.map((part) => part.text ?? '').join(' ')
    : String(content ?? '');
  return text.split(/\s+/).filter(Boolean).toReversed();
}

function isAfterResult({ input }: FakeResponseRequest): boolean {
  return typeof input !== 'string' && input.at(-1)?.type === 'function_call_output';
}

function usageOf(request: FakeResponseRequest) {
  const input_tokens = JSON.stringify(request.input).length;
  const output_tokens = wordsOf(request).length;
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: 3 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: input_tokens + output_tokens,
  };
}
