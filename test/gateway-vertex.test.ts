import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { failureOf, READ_AND_WRITE, say, streamedText } from './support/openai-calls.ts';
import { startGemini, type TestGemini } from './support/upstream-gemini.ts';

let fake: TestGemini;
let daemon: TestDaemon;
let client: OpenAI;

beforeAll(async () => {
  fake = await startGemini();
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-test-vertex-'));
  const account = join(dataDir, 'account.json');
  writeFileSync(account, fake.serviceAccount, { mode: 0o600 });
  const settings = { project: fake.project, location: fake.location };
  writeFileSync(
    join(dataDir, 'svc.yaml'),
    JSON.stringify({ providers: { vertex: { base_url: fake.vertexUrl, settings } } }),
  );
  daemon = await startDaemon({ dataDir, env: { GOOGLE_APPLICATION_CREDENTIALS: account } });
  client = new OpenAI({ baseURL: `${daemon.url}/compat/v1`, apiKey: daemon.apiKey, maxRetries: 0 });
});

afterAll(async () => {
  await daemon?.stop();
  await fake?.stop();
});

test('the stock client talks, calls tools and embeds with one token of the service account', async () => {
  const model = 'vertex/gemini-2.5-flash';
  expect((await streamedText(client, { model, messages: say('one two three') })).text).toBe('three two one');
  const { choices } = await client.chat.completions.create({
    model,
    messages: say('left right'),
    tools: READ_AND_WRITE,
  });
  expect(choices[0]?.message.tool_calls).toHaveLength(2);
  const { data } = await client.embeddings.create({ model: 'vertex/text-embedding-005', input: ['a', 'b'] });
  expect(data[0]?.embedding).not.toEqual(data[1]?.embedding);
  const { choices: others } = await client.chat.completions.create({
    model: 'vertex/claude-test',
    messages: say('hello'),
  });
  expect(others[0]?.message.content).toStartWith('claude-test read');
  expect((await fake.seen()).tokens).toBe(1);
});

test('a failure and the log show nothing of the key or the token', async () => {
  const token = (await fake.seen()).lastHeaders as { authorization?: string };
  const error = await failureOf(
    client.chat.completions.create({ model: 'vertex/broken', messages: say('a') }),
  );
  for (const secret of [String(token.authorization?.slice(7)), 'PRIVATE KEY']) {
    expect(secret.length).toBeGreaterThan(10);
    expect(error.message).not.toContain(secret);
    expect(daemon.log()).not.toContain(secret);
  }
});
