import { type FakeCall, type FakeProvider, hang, note, serveFake, startFake } from './fake-provider.ts';
import { chat, embed, refused, rerank } from './upstream-cohere-answer.ts';

/** A fake of Cohere. */
export interface TestCohere extends FakeProvider {
  readonly url: string;
  readonly apiKey: string;
}

const API_KEY = 'co-test-0123456789';

/** Starts one on a free port. */
export async function startCohere(): Promise<TestCohere> {
  const fake = await startFake(import.meta.path);
  return { ...fake, url: fake.origin, apiKey: API_KEY };
}

async function answer(call: FakeCall): Promise<Response> {
  const { pathname } = call.url;
  if (call.headers.get('authorization') !== `Bearer ${API_KEY}`)
    return Response.json({ id: 'x', message: 'invalid api token' }, { status: 401 });
  if (pathname === '/v1/models')
    return Response.json(
      call.url.searchParams.get('page_token') === '2'
        ? { models: [{ name: 'rerank-v4.0' }] }
        : {
            models: [{ name: 'command-a-03-2025' }, { name: 'old', is_deprecated: true }],
            next_page_token: '2',
          },
    );
  note(call);
  const body = JSON.parse(call.text);
  const misbehaviour = await misbehave(String(body.model), call);
  if (misbehaviour) return misbehaviour;
  if (pathname === '/v2/embed') return embed(body);
  if (pathname === '/v2/rerank') return rerank(body);
  return pathname === '/v2/chat' ? chat(body, call.signal) : refused('no such place', 404);
}

async function misbehave(model: string, { signal }: FakeCall): Promise<Response | undefined> {
  if (model === 'hangs') return hang(signal);
  if (model === 'rate-limited')
    return Response.json(
      { id: 'e', message: 'too many requests' },
      { status: 429, headers: { 'retry-after': '7' } },
    );
  if (model === 'broken') return refused(`internal error with ${API_KEY}`, 500);
  return undefined;
}

if (import.meta.main) serveFake(answer);
