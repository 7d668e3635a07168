import { note, serveFake } from './fake-provider.ts';

/** The key that this model wants. */
export const MEMORY_MODEL_KEY = 'sk-test-memory-0123456789';

interface Request {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string }>;
  readonly stream?: boolean;
}

const SAID = /What the user said, as a JSON string:\n(?<said>".*")/;
const LIVES = /I live in (?<city>\w+)/;
const WISH = /(?<wish>[Aa]lways answer in \w+)/;

/** A note in the system prompt. */
const NOTE = /"note":"(?<note>[^"]*)"/g;

/**
 * A fake model, in a process of its own. In a turn it says which notes its system prompt has. When it is asked to learn, it finds "I live in
 * X" and "always answer in X" in what the user has said. The model `memory-fails` never answers well.
 */
function answerTo(request: Request): string {
  const { messages } = request;
  if (SAID.test(messages.at(-1)?.content ?? ''))
    return `Here you are:\n\`\`\`json\n${JSON.stringify({ facts: facts(request) })}\n\`\`\``;
  const system = messages.find(({ role }) => role === 'system')?.content ?? '';
  const notes = [...system.matchAll(NOTE)].map(({ groups }) => groups?.note ?? '');
  return `I know: ${notes.join(' ') || 'nothing'}`;
}

function facts({ messages }: Request): object[] {
  const said = JSON.parse(SAID.exec(messages.at(-1)?.content ?? '')?.groups?.said ?? '""') as string;
  const city = LIVES.exec(said)?.groups?.city;
  const wish = WISH.exec(said)?.groups?.wish;
  return [
    ...(city ? [{ factKey: 'user.home_city', content: `The user lives in ${city}.`, confidence: 0.9 }] : []),
    ...(wish ? [{ factKey: 'wish.language', content: `${wish}.`, type: 'instruction' }] : []),
  ];
}

function completion(request: Request): Response {
  const content = answerTo(request);
  const head = { id: 'chatcmpl-memory', created: 1_700_000_000, model: 'memory' };
  const chunk = (choices: object[], more: object = {}) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  if (!request.stream) {
    const message = { role: 'assistant', content };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return Response.json({ ...head, object: 'chat.completion', choices, usage });
  }
  const events = [
    chunk([{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    chunk([], { usage }),
    'data: [DONE]\n\n',
  ];
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } });
}

if (import.meta.main)
  serveFake((call) => {
    if (call.headers.get('authorization') !== `Bearer ${MEMORY_MODEL_KEY}`)
      return new Response('no key', { status: 401 });
    if (call.url.pathname === '/v1/models')
      return Response.json({ object: 'list', data: [{ id: 'memory', created: 1 }] });
    if (!call.url.pathname.endsWith('/chat/completions'))
      return new Response('no such place', { status: 404 });
    note(call);
    const request = JSON.parse(call.text) as Request & { model: string };
    if (request.model === 'memory-fails') return new Response('broken', { status: 500 });
    return completion(request);
  });
