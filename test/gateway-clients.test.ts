import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { aiSdkClient } from './support/clients/ai-sdk.ts';
import { anthropicClient } from './support/clients/anthropic.ts';
import type { Failure, StockClient } from './support/clients/client.ts';
import { langchainClient } from './support/clients/langchain.ts';
import { openaiClient } from './support/clients/openai.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { until } from './support/scene.ts';
import { startUpstream } from './support/upstream.ts';
import { startMessagesUpstream } from './support/upstream-anthropic.ts';
import { startBedrock } from './support/upstream-bedrock.ts';
import { startGemini } from './support/upstream-gemini.ts';

const CLIENTS = [openaiClient, aiSdkClient, anthropicClient, langchainClient] as const;
const CLIENT_NAMES = [
  'openai',
  'ai + @ai-sdk/openai-compatible',
  '@anthropic-ai/sdk',
  '@langchain/openai',
] as const;

/** Models of each dialect, by what they do. `down` is a provider of the dialect at which nobody listens. */
const UPSTREAMS = {
  openai: {
    chat: 'openai/gpt-test',
    embeds: 'openai/embed-test',
    limited: 'openai/rate-limited',
    breaks: 'openai/fails-midstream',
    hangs: 'openai/hangs-midstream',
    refuses: { model: 'openai/bad-request' },
  },
  anthropic: {
    chat: 'anthropic/claude-opus-4-8',
    embeds: undefined,
    limited: 'anthropic/rate-limited',
    breaks: 'anthropic/fails-midstream',
    hangs: 'anthropic/hangs-midstream',
    refuses: { model: 'anthropic/claude-opus-4-8', tools: ['not a name'] },
  },
  google: {
    chat: 'google/gemini-2.5-flash',
    embeds: 'google/gemini-embedding-001',
    limited: 'google/rate-limited',
    breaks: 'google/fails-midstream',
    hangs: 'google/hangs-midstream',
    refuses: { model: 'google/gemini-2.5-flash', tools: ['not a name'] },
  },
  bedrock: {
    chat: 'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    embeds: 'bedrock/amazon.titan-embed-text-v2:0',
    limited: 'bedrock/rate-limited',
    breaks: 'bedrock/fails-midstream',
    hangs: 'bedrock/hangs-midstream',
    refuses: { model: 'bedrock/anthropic.claude-3-7-sonnet-20250219-v1:0', tools: ['not a name'] },
  },
} as const;
type Dialect = keyof typeof UPSTREAMS;

/** What cannot be asked, and why. Each line has a test that it is so. */
const CANNOT: ReadonlyArray<readonly [client: string, dialect: Dialect | 'every', what: string]> = [
  ['@anthropic-ai/sdk', 'every', 'embed: the dialect of messages has none'],
  ['every', 'anthropic', 'embed: the provider has none'],
];

interface Fake {
  seen(): Promise<{ readonly left: number }>;
  stop(): Promise<void>;
}

let fakes: Readonly<Record<Dialect, Fake>>;
let daemon: TestDaemon;
const clients = new Map<string, StockClient>();

beforeAll(async () => {
  const [openai, anthropic, google, bedrock] = await Promise.all([
    startUpstream(),
    startMessagesUpstream(),
    startGemini(),
    startBedrock(),
  ]);
  fakes = { openai, anthropic, google, bedrock };
  const down = (dialect: string, more: object = {}) => ({
    base_url: 'http://127.0.0.1:1/v1',
    api_key: 'a-key',
    models: ['m'],
    dialect,
    ...more,
  });
  const env = {
    OPENAI_BASE_URL: openai.url,
    OPENAI_API_KEY: openai.apiKey,
    ANTHROPIC_BASE_URL: anthropic.url,
    ANTHROPIC_API_KEY: anthropic.apiKey,
    GEMINI_API_KEY: google.apiKey,
    GOOGLE_GEMINI_BASE_URL: google.url,
    AWS_ACCESS_KEY_ID: bedrock.sessionKeyId,
    AWS_SECRET_ACCESS_KEY: bedrock.secretAccessKey,
    AWS_SESSION_TOKEN: bedrock.sessionToken,
    AWS_REGION: bedrock.region,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: bedrock.url,
    SVC_GATEWAY_RETRIES: '0',
    SVC_PROVIDERS: JSON.stringify({
      'down-openai': down('openai'),
      'down-anthropic': down('anthropic'),
      'down-google': down('gemini'),
      'down-bedrock': down('bedrock', { settings: { region: 'eu-west-1' } }),
    }),
  };
  daemon = await startDaemon({ env });
  for (const make of CLIENTS) {
    const client = make(daemon);
    clients.set(client.name, client);
  }
});

afterAll(async () => {
  await daemon?.stop();
  await Promise.all(Object.values(fakes ?? {}).map((fake) => fake.stop()));
});

const clientOf = (name: string) => clients.get(name) as StockClient;
const WORDS = 'one two three four five six seven eight';
const TURNED = WORDS.split(' ').toReversed().join(' ');
const CALLS = [
  ['read', { text: TURNED }],
  ['write', { text: TURNED }],
] as const;
const PAGE = {
  type: 'object',
  properties: { title: { type: 'string' } },
  required: ['title'],
  additionalProperties: false,
};

/** A case: what one client does with one dialect, and what has to come of it. */
type Case = (client: StockClient, dialect: Dialect) => Promise<void>;

const CASES: Readonly<Record<string, Case>> = {
  'gets an answer, and what it took': async (client, dialect) => {
    const { text, outputTokens } = await client.whole({ model: UPSTREAMS[dialect].chat, words: WORDS });
    expect(text.trim()).toBe(TURNED);
    expect(outputTokens).toBeGreaterThan(0);
  },
  'hears a stream piece by piece': async (client, dialect) => {
    const { text, pieces, failure } = await client.stream({ model: UPSTREAMS[dialect].chat, words: WORDS });
    expect(failure).toBeUndefined();
    expect(text.trim()).toBe(TURNED);
    expect(pieces).toBeGreaterThan(3);
  },
  'gets a call of a tool': async (client, dialect) => {
    const { calls } = await client.whole({ model: UPSTREAMS[dialect].chat, words: WORDS, tools: ['read'] });
    expect(calls).toEqual([CALLS[0]]);
  },
  'gets parallel calls of tools': async (client, dialect) => {
    const asked = { model: UPSTREAMS[dialect].chat, words: WORDS, tools: ['read', 'write'] };
    expect((await client.whole(asked)).calls).toEqual(CALLS);
  },
  'puts parallel calls together from a stream': async (client, dialect) => {
    const asked = { model: UPSTREAMS[dialect].chat, words: WORDS, tools: ['read', 'write'] };
    const { calls, failure } = await client.stream(asked);
    expect(failure).toBeUndefined();
    expect(calls).toEqual(CALLS);
  },
  'gets a value of a schema': async (client, dialect) => {
    const value = await client.object({ model: UPSTREAMS[dialect].chat, words: WORDS }, PAGE);
    expect(value).toEqual({ title: TURNED });
  },
  'embeds texts': async ({ embed }, dialect) => {
    const model = UPSTREAMS[dialect].embeds;
    if (!embed || !model) throw new Error('it is not listed as impossible');
    const [first = [], second = [], again = []] = await embed(model, ['one', 'two', 'one']);
    expect(first.length).toBeGreaterThan(3);
    expect(second).not.toEqual(first);
    expect(again).toEqual(first);
  },
  '401: a key that is not good': async (client, dialect) => {
    const failure = await failed(client, { model: UPSTREAMS[dialect].chat, apiKey: `s_${'x'.repeat(43)}` });
    expect(failure.status).toBe(401);
  },
  '404: a model that nobody has, with the nearest name': async (client, dialect) => {
    const failure = await failed(client, { model: `${UPSTREAMS[dialect].chat.replace('/', 'x/')}` });
    expect(failure.status).toBe(404);
    expect(failure.message).toContain(dialect);
  },
  '400: what the provider refuses': async (client, dialect) => {
    expect((await failed(client, UPSTREAMS[dialect].refuses)).status).toBe(400);
  },
  '429: a limit of the provider': async (client, dialect) => {
    expect((await failed(client, { model: UPSTREAMS[dialect].limited })).status).toBe(429);
    const { failure, text } = await client.stream({ model: UPSTREAMS[dialect].limited, words: WORDS });
    expect(text).toBe('');
    expect(failure?.status).toBe(429);
  },
  'a provider that is down': async (client, dialect) => {
    const failure = await failed(client, { model: `down-${dialect}/m` });
    expect([502, 503]).toContain(failure.status ?? 0);
    expect(failure.message).toContain(`down-${dialect}`);
  },
  'a stream that breaks off: what came, and an error': async (client, dialect) => {
    const { text, failure } = await client.stream({ model: UPSTREAMS[dialect].breaks, words: WORDS });
    expect(TURNED).toStartWith(text.trim());
    expect(text).not.toBe('');
    expect(failure?.message).toBeTruthy();
  },
  'leaves a stream: its provider is left too': async (client, dialect) => {
    const { left } = await fakes[dialect].seen();
    const leaving = new AbortController();
    await client
      .stream({ model: UPSTREAMS[dialect].hangs, words: WORDS, signal: leaving.signal }, () =>
        leaving.abort(),
      )
      .catch(() => undefined);
    await until(async () => (await fakes[dialect].seen()).left > left);
  },
};

async function failed(
  client: StockClient,
  asked: { model: string; tools?: readonly string[]; apiKey?: string },
): Promise<Failure> {
  const error = await client.whole({ words: WORDS, ...asked }).then(
    (answer) => new Error(`it was answered: ${JSON.stringify(answer)}`),
    (thrown: unknown) => thrown,
  );
  return client.failureOf(error);
}

function cannot(client: string, dialect: Dialect, what: string): boolean {
  return CANNOT.some(
    ([name, where, words]) =>
      (name === client || name === 'every') &&
      (where === dialect || where === 'every') &&
      what.startsWith(words.slice(0, words.indexOf(':'))),
  );
}

for (const name of CLIENT_NAMES)
  for (const dialect of Object.keys(UPSTREAMS) as Dialect[])
    describe(`${name} over ${dialect}`, () => {
      for (const [what, run] of Object.entries(CASES))
        if (!cannot(name, dialect, what)) test(what, () => run(clientOf(name), dialect));
    });

describe('what cannot be asked', () => {
  for (const [client, dialect, what] of CANNOT)
    test(`${client} over ${dialect} cannot ${what}`, () => {
      if (client === 'every') expect(UPSTREAMS[dialect as Dialect].embeds).toBeUndefined();
      else expect(clientOf(client).embed).toBeUndefined();
    });
});
