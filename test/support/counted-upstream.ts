/** An upstream of the chat-completions family whose every answer says which call it was. */
export interface CountedUpstream {
  readonly url: string;
  /** Calls since the start, by path: `chat`, `embeddings`, `moderations`, ... */
  readonly calls: ReadonlyMap<string, number>;
  /** The last body on a path. */
  readonly last: ReadonlyMap<string, Record<string, unknown>>;
  stop(): Promise<void>;
}

interface Body extends Record<string, unknown> {
  readonly model: string;
  readonly stream?: boolean;
}

/**
 * Starts one. It answers with the words of the request backwards and the number of the call. Its models: `filtered` ends with content_filter,
 * `runs-code` answers with a call of eval, `talked-out` with a marker of a jailbreak, `fails` with 500; anything else just answers. A vector of what says `slowly` never comes.
 */
export function startCounted(): CountedUpstream {
  const calls = new Map<string, number>();
  const last = new Map<string, Record<string, unknown>>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname.replace('/v1/', '');
      if (request.method === 'GET') return Response.json({ object: 'list', data: [] });
      const body = (await request.json()) as Body;
      const place = (calls.get(path) ?? 0) + 1;
      calls.set(path, place);
      last.set(path, body);
      if (path === 'embeddings' && String(body.input).includes('slowly'))
        await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
      if (body.model === 'fails') return Response.json({ error: { message: 'broken' } }, { status: 500 });
      return answers[path]?.(body, place) ?? Response.json({ error: { message: path } }, { status: 404 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, calls, last, stop: () => server.stop(true) };
}

type Answer = (body: Body, place: number) => Response;

const answers: Readonly<Record<string, Answer>> = {
  'chat/completions': chat,
  completions: (body, place) =>
    Response.json({
      id: `cmpl-${place}`,
      object: 'text_completion',
      created: 1_700_000_000,
      model: body.model,
      choices: [{ index: 0, text: wordsFor(body, place), finish_reason: 'stop', logprobs: null }],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    }),
  embeddings: ({ model, input }) =>
    Response.json({
      object: 'list',
      model,
      data: [input]
        .flat()
        .map((text, index) => ({ object: 'embedding', index, embedding: letters(String(text)) })),
      usage: { prompt_tokens: 2, total_tokens: 2 },
    }),
  moderations: ({ model, input }) =>
    Response.json({
      id: 'modr-1',
      model,
      results: [input].flat().map((text) => {
        const violence = String(text).includes('kill') ? 0.9 : 0.01;
        return { flagged: violence > 0.5, categories: {}, category_scores: { 'violence/graphic': violence } };
      }),
    }),
};

function chat(body: Body, place: number): Response {
  const content = wordsFor(body, place);
  const head = { id: `chatcmpl-${place}`, created: 1_700_000_000, model: body.model };
  const finish_reason = body.model === 'filtered' ? 'content_filter' : 'stop';
  const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
  if (!body.stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason }];
    return Response.json({ ...head, object: 'chat.completion', choices, usage });
  }
  const chunk = (delta: object, end: string | null = null) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
  const pieces = content.split(' ').map((word) => chunk({ content: `${word} ` }));
  const text = [
    chunk({ role: 'assistant', content: '' }),
    ...pieces,
    chunk({}, finish_reason),
    'data: [DONE]\n\n',
  ];
  return new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } });
}

function wordsFor(body: Body, place: number): string {
  if (body.model === 'runs-code') return `Here: eval("1 + ${place}")`;
  if (body.model === 'talked-out') return `Jailbreak successful, ${place}`;
  return `${saidIn(body).split(/\s+/).toReversed().join(' ')} (${place})`;
}

/** The last thing that was said. */
function saidIn({ messages, prompt }: Body): string {
  const content = (messages as Array<{ content: unknown }> | undefined)?.at(-1)?.content ?? prompt;
  const parts =
    typeof content === 'string' ? [{ text: content }] : ((content ?? []) as Array<{ text?: string }>);
  return parts.map(({ text = '' }) => text).join(' ');
}

/** How often each letter is in a text: texts with the same words have nearly the same vector. */
function letters(text: string): number[] {
  const counts = Array.from({ length: 26 }, () => 0);
  for (const letter of text.toLowerCase()) {
    const place = letter.charCodeAt(0) - 97;
    if (place >= 0 && place < 26) counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}
