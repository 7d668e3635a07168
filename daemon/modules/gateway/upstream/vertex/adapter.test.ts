import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startGemini, type TestGemini } from '../../../../../test/support/upstream-gemini.ts';
import { testUpstream } from '../../testing/upstream.ts';
import type { ChatRequest } from '../../wire/chat.ts';
import type { StreamedChat, Upstream, WholeChat } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { completionOf } from '../translate/chunks.ts';
import { vertexAdapter } from './adapter.ts';

let fake: TestGemini;

beforeAll(async () => {
  fake = await startGemini();
});

afterAll(async () => {
  await fake?.stop();
});

const upstream = (secret = fake.serviceAccount, signal?: AbortSignal) =>
  testUpstream({
    dialect: 'vertex',
    baseUrl: fake.vertexUrl,
    secret,
    settings: { project: fake.project, location: fake.location },
    signal,
  });
/** Another account with the same rights, whose token nobody has yet. */
const another = (name: string) =>
  JSON.stringify({ ...JSON.parse(fake.serviceAccount), private_key_id: name });
const request: ChatRequest = { model: 'gemini-2.5-flash', messages: [{ role: 'user', content: 'one two' }] };

async function text(model: string, stream: boolean, place: Upstream): Promise<unknown> {
  const answer = (await vertexAdapter.chat?.({ ...request, model, stream }, place)) as
    | WholeChat
    | StreamedChat;
  const whole =
    answer.kind === 'whole' ? answer.completion : completionOf(await Array.fromAsync(answer.chunks));
  return whole.choices[0]?.message.content;
}

test('answers with a token that was bought with the key, once for many calls at once', async () => {
  const { tokens } = await fake.seen();
  const answers = await Promise.all(
    [1, 2, 3, 4, 5].map((place) => text('gemini-2.5-flash', place % 2 === 0, upstream(another('many')))),
  );
  expect(answers).toEqual(Array(5).fill('two one'));
  expect((await fake.seen()).tokens).toBe(tokens + 1);
});

test('answers with the token of a user, until it is revoked', async () => {
  expect(await text('gemini-2.5-flash', true, upstream(fake.user))).toBe('two one');
  const revoked = upstream(JSON.stringify({ ...JSON.parse(fake.user), refresh_token: 'old' }));
  await expect(text('gemini-2.5-flash', false, revoked)).rejects.toMatchObject({ kind: 'key' });
});

test('who waits for a token is not failed by another who leaves', async () => {
  const secret = another('leaving');
  const leave = new AbortController();
  const first = text('gemini-2.5-flash', false, upstream(secret, leave.signal)).then(
    () => 'answered',
    () => 'left',
  );
  const second = text('gemini-2.5-flash', false, upstream(secret));
  leave.abort();
  expect(await second).toBe('two one');
  expect(await first).toBe('left');
});

test('Claude answers in its own dialect at the same place', async () => {
  for (const stream of [false, true])
    expect(await text('claude-test', stream, upstream())).toMatch(/^claude-test read \d+$/);
  expect((await fake.seen()).lastHeaders['x-api-key']).toBeUndefined();
});

test('keys that are none are refused without being shown or sent', async () => {
  const account = JSON.parse(fake.serviceAccount) as Record<string, string>;
  const { count } = await fake.seen();
  const secrets = [
    JSON.stringify({ ...account, type: 'external_account' }),
    JSON.stringify({ ...account, token_uri: 'http://127.0.0.1:9/token' }),
    JSON.stringify({ ...account, private_key: 'nothing' }),
    JSON.stringify({ ...account, client_email: 'stranger@example.com' }),
    'ya29.not-given',
  ];
  for (const secret of secrets) {
    const error = await vertexAdapter.chat?.(request, upstream(secret)).then(
      () => undefined,
      (thrown: unknown) => thrown as UpstreamError,
    );
    expect(error).toBeInstanceOf(UpstreamError);
    expect(error?.kind).toBe('key');
    expect(error?.message).not.toContain('PRIVATE');
    expect(error?.message).not.toContain('not-given');
  }
  expect((await fake.seen()).count).toBe(count);
});

test('embeds one text a call where the model takes no more', async () => {
  for (const model of ['gemini-embedding-001', 'text-embedding-005']) {
    const answer = await vertexAdapter.relay?.embeddings?.(
      { model, input: ['a b', 'c', 'd e f'] },
      upstream(),
      {},
    );
    const { data, usage } = JSON.parse(String(answer?.body));
    expect(data).toHaveLength(3);
    expect(usage.prompt_tokens).toBe(6);
  }
});

test('lists the models of both makers', async () => {
  expect((await vertexAdapter.models?.(upstream()))?.map(({ id }) => id)).toEqual([
    'gemini-2.5-flash',
    'gemini-3-pro-preview',
    'gemini-embedding-001',
    'claude-test',
  ]);
});
