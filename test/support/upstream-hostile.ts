import { type FakeCall, type FakeProvider, serveFake, startFake } from './fake-provider.ts';

/** Starts a provider of the chat-completions dialect that does what no good one does, by the name of the model. */
export function startHostile(): Promise<FakeProvider> {
  return startFake(import.meta.path);
}

const behaviours: Readonly<Record<string, (authorization: string) => Response>> = {
  'counts-absurdly': () => completion({ prompt_tokens: 1e300, completion_tokens: 0.5, total_tokens: 1e300 }),
  'repeats-the-key': (authorization) => failed(400, said(authorization)),
  'repeats-the-key-as-200': (authorization) => failed(200, said(authorization)),
  'repeats-the-key-in-a-stream': (authorization) => events([{ error: { message: said(authorization) } }]),
  'waits-for-ever': () =>
    Response.json(
      { error: { message: 'later' } },
      { status: 429, headers: { 'retry-after-ms': 'Infinity' } },
    ),
  'stops-in-the-middle': () => events([delta({ content: 'half an' }), delta({ content: ' answer' })]),
  'ends-without-done': () => events([delta({ content: 'whole' }), { ...delta({}), ...finished }]),
  'answers-nonsense': () => Response.json({ choices: [null, { message: { tool_calls: [null] } }] }),
  'has-no-end': () => endless(new Uint8Array(1 << 20).fill(0x20)),
  'is-slow': () => new Response(new ReadableStream({ start: () => new Promise(() => {}) })),
};

function answer({ url, headers, text }: FakeCall): Response {
  if (url.pathname.endsWith('/models')) return Response.json({ data: [{ id: 'gpt-4o' }] });
  if (url.pathname.endsWith('/embeddings')) {
    const { input, form } = JSON.parse(text) as { input: string; form?: unknown };
    return Response.json({
      data: [{ embedding: [input.length] }],
      form,
      usage: { prompt_tokens: 1, total_tokens: 1 },
    });
  }
  const { model } = JSON.parse(text) as { model: string };
  const behave = behaviours[model];
  return behave
    ? behave(headers.get('authorization') ?? '')
    : completion({ prompt_tokens: 3, completion_tokens: 2 });
}

/** The key as it is, as addresses have it, and in part, as providers quote it. */
function said(authorization: string): string {
  const key = authorization.replace('Bearer ', '');
  return `no such key: ${key}, ${encodeURIComponent(key)}, ${btoa(key)}, ${key.slice(0, 20)}***${key.slice(-2)}`;
}

function completion(usage: object): Response {
  const choice = { index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' };
  return Response.json({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [choice],
    usage,
  });
}

const finished = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

function delta(content: object): object {
  return {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: content }],
  };
}

function failed(status: number, message: string): Response {
  return Response.json({ error: { message, type: 'invalid_request_error' } }, { status });
}

function events(all: readonly object[]): Response {
  const text = all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

function endless(piece: Uint8Array): Response {
  const body = new ReadableStream({
    async pull(sink) {
      sink.enqueue(piece);
      await Bun.sleep(0);
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

if (import.meta.main) serveFake(answer);
