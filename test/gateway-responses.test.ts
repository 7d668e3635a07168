import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, { BadRequestError, ConflictError, NotFoundError } from 'openai';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { failureOf, PIXEL } from './support/openai-calls.ts';
import { until } from './support/scene.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';
import { startUpstream, type TestUpstream } from './support/upstream.ts';
import { startMessagesUpstream, type TestMessagesUpstream } from './support/upstream-anthropic.ts';

let upstream: TestUpstream;
let messages: TestMessagesUpstream;
let daemon: TestDaemon;
let client: OpenAI;

const env = () => ({
  OPENAI_BASE_URL: upstream.url,
  OPENAI_API_KEY: upstream.apiKey,
  ANTHROPIC_BASE_URL: messages.url,
  ANTHROPIC_API_KEY: messages.apiKey,
  SVC_PROVIDERS: JSON.stringify({ plain: { base_url: upstream.chatOnlyUrl, api_key: upstream.apiKey } }),
  SVC_GATEWAY_BACKGROUND_RESPONSES: '2',
});
const clientOf = ({ url, apiKey }: TestDaemon) =>
  new OpenAI({ baseURL: `${url}/compat/v1`, apiKey, maxRetries: 0 });

beforeAll(async () => {
  upstream = await startUpstream();
  messages = await startMessagesUpstream();
  daemon = await startDaemon({ env: env() });
  client = clientOf(daemon);
});

afterAll(async () => {
  await daemon?.stop();
  await upstream?.stop();
  await messages?.stop();
});

/** A provider that has responses of its own, and one that only knows chat completions. */
const PROVIDERS = ['openai', 'plain'];
const PLACES: Readonly<Record<string, string>> = {
  openai: '/v1/responses',
  plain: '/chat-only/v1/chat/completions',
};
const MANY_WORDS = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');
const LOOK_UP = {
  type: 'function' as const,
  name: 'look_up',
  description: 'Looks a text up',
  parameters: { type: 'object', properties: { text: { type: 'string' } } },
  strict: false,
};

async function eventsOf(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** A stored response as it is on the wire; the stock client adds to what it is given. */
async function stored(id: string): Promise<Response> {
  return (await daemon.fetch(`/compat/v1/responses/${id}`)).json() as Promise<Response>;
}

const ended = (id: string, on = client) =>
  until(async () => {
    const response = await on.responses.retrieve(id);
    return response.status === 'queued' || response.status === 'in_progress' ? undefined : response;
  });

describe.each(PROVIDERS)('the stock client and the responses of %s', (provider) => {
  const model = `${provider}/gpt-test`;

  test('creates one, comes back to it, and deletes it', async () => {
    const made = await client.responses.create({ model, input: 'one two three', metadata: { team: 'a' } });
    expect(made.output_text).toBe('three two one');
    expect((await upstream.seen()).lastPath).toBe(PLACES[provider] ?? '');
    expect(made).toMatchObject({
      object: 'response',
      status: 'completed',
      store: true,
      metadata: { team: 'a' },
    });
    expect(made.id).toMatch(/^resp_[0-9a-z]{26}$/);
    expect(made.usage?.total_tokens).toBe((made.usage?.input_tokens ?? 0) + 3);
    expect(await client.responses.retrieve(made.id)).toEqual(made);
    const gone = await daemon.fetch(`/compat/v1/responses/${made.id}`, { method: 'DELETE' });
    expect(await gone.json()).toEqual({ id: made.id, object: 'response.deleted', deleted: true });
    expect(await failureOf(client.responses.retrieve(made.id))).toBeInstanceOf(NotFoundError);
    expect(await failureOf(client.responses.delete(made.id))).toBeInstanceOf(NotFoundError);
  });

  test('streams one: events without gaps, in order, that add up to what is kept', async () => {
    const events = await eventsOf(
      await client.responses.create({ model, input: 'one two three', stream: true }),
    );
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
    const kinds = events.map(({ type }) => type).filter((type, i, all) => type !== all[i - 1]);
    expect(kinds).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error('it did not complete');
    expect(await stored(last.response.id)).toEqual(JSON.parse(JSON.stringify(last.response)));
    const final = await client.responses.stream({ model, input: 'one two three' }).finalResponse();
    expect(final.output_text.trim()).toBe('three two one');
  });

  test('calls tools and goes on with their results', async () => {
    const asked = await client.responses.create({ model, input: 'left right', tools: [LOOK_UP] });
    const call = asked.output.find(({ type }) => type === 'function_call');
    if (call?.type !== 'function_call') throw new Error('no call');
    expect([call.name, JSON.parse(call.arguments)]).toEqual(['look_up', { text: 'right left' }]);
    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'found it' };
    await client.responses.create({ model, previous_response_id: asked.id, input: [output] });
    const sent = JSON.stringify((await upstream.seen()).lastBody);
    for (const part of ['left right', 'look_up', call.call_id, 'found it']) expect(sent).toContain(part);
  });

  test('puts parallel calls together from a stream', async () => {
    const tools = [LOOK_UP, { ...LOOK_UP, name: 'write' }];
    const final = await client.responses.stream({ model, input: 'left right', tools }).finalResponse();
    const calls = final.output.map((item) =>
      item.type === 'function_call' ? [item.name, JSON.parse(item.arguments)] : [],
    );
    expect(calls).toEqual([
      ['look_up', { text: 'right left' }],
      ['write', { text: 'right left' }],
    ]);
  });

  test('answers in a schema, and says which', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const format = { type: 'json_schema' as const, name: 'answer', schema, strict: true };
    const request = { model, input: 'two one', text: { format } };
    const made = await client.responses.parse(request);
    expect(made.output_parsed).toEqual({ a: 'one two' });
    const { lastBody } = await upstream.seen();
    expect(JSON.stringify(lastBody)).toContain('"required":["a"]');
  });

  test('leaves a stream: the upstream is left, and what was said is kept as cancelled', async () => {
    const { left } = await upstream.seen();
    const stream = await client.responses.create({
      model: `${provider}/hangs-midstream`,
      input: MANY_WORDS,
      stream: true,
    });
    let id = '';
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') break;
      expect((await client.responses.retrieve(id)).status).toBe('in_progress');
    }
    await until(async () => ((await upstream.seen()).left > left ? true : undefined));
    const kept = await ended(id);
    expect(kept.status).toBe('cancelled');
    expect(kept.output_text).toStartWith('word59 ');
  });

  test('hears of an upstream that breaks off, and keeps what had come as failed', async () => {
    const events = await eventsOf(
      await client.responses.create({
        model: `${provider}/fails-midstream`,
        input: MANY_WORDS,
        stream: true,
      }),
    );
    const last = events.at(-1);
    if (last?.type !== 'response.failed') throw new Error(`it ended with ${last?.type}`);
    expect(last.sequence_number).toBe(events.length - 1);
    expect(last.response.error?.code).toBe('server_error');
    const kept = await stored(last.response.id);
    expect(kept.status).toBe('failed');
    expect(JSON.stringify(kept.output)).toContain('word59');
  });

  test('goes on from a response of the other provider, and from one that it thought about', async () => {
    const other = PROVIDERS.find((name) => name !== provider);
    const first = await client.responses.create({ model, input: 'one two', reasoning: { effort: 'low' } });
    const second = await client.responses.create({
      model: `${other}/gpt-test`,
      input: 'three four',
      previous_response_id: first.id,
      reasoning: { effort: 'low' },
    });
    const third = await client.responses.create({
      model,
      input: 'five six',
      previous_response_id: second.id,
      reasoning: { effort: 'low' },
    });
    expect(third.previous_response_id).toBe(second.id);
    const sent = JSON.stringify((await upstream.seen()).lastBody);
    const said = ['one two', 'two one', 'three four', 'four three', 'five six'].map((text) =>
      sent.indexOf(text),
    );
    expect(said.every((at, i) => at > (said[i - 1] ?? -1))).toBe(true);
    expect(await failureOf(client.responses.delete(first.id)).catch(() => undefined)).toBeUndefined();
    const error = await failureOf(
      client.responses.create({ model, input: 'seven', previous_response_id: third.id }),
    );
    expect(error.message).toContain(first.id);
  });

  test('keeps nothing with store: false, not even at the provider', async () => {
    const made = await client.responses.create({ model, input: 'one two', store: false });
    expect(made).toMatchObject({ store: false });
    expect(await failureOf(client.responses.retrieve(made.id))).toBeInstanceOf(NotFoundError);
  });

  test('lists the input, page by page, and takes references to it', async () => {
    const input = [
      { role: 'system' as const, content: 'Be brief.' },
      {
        role: 'user' as const,
        content: [{ type: 'input_image' as const, image_url: PIXEL, detail: 'auto' as const }],
      },
      { role: 'user' as const, content: 'one two' },
    ];
    const made = await client.responses.create({ model, input });
    const items = [];
    for await (const item of client.responses.inputItems.list(made.id, { limit: 1, order: 'asc' }))
      items.push(item);
    expect(items.map((item) => ('role' in item ? item.role : ''))).toEqual(['system', 'user', 'user']);
    expect(items[2]).toMatchObject({ type: 'message', status: 'completed', content: [{ text: 'one two' }] });
    const newest = await client.responses.inputItems.list(made.id, { limit: 2 });
    expect(newest.data.map(({ id }) => id)).toEqual([items[2]?.id ?? '', items[1]?.id ?? '']);
    expect(newest.has_more).toBe(true);
    const again = await client.responses.create({
      model,
      input: [{ type: 'item_reference', id: items[2]?.id ?? '' }],
    });
    expect(again.output_text).toBe('two one');
  });
});

describe('a provider of another dialect', () => {
  const model = 'anthropic/claude-sonnet-4-5';
  const asked = {
    model,
    tools: [LOOK_UP],
    reasoning: { effort: 'high' as const },
    max_output_tokens: 4096,
    include: ['reasoning.encrypted_content' as const],
  };

  test('thinks, calls and goes on with its signatures, kept here or by the caller', async () => {
    const first = await client.responses.create({ ...asked, input: 'left right' });
    const kinds = first.output.map(({ type }) => type);
    expect(kinds).toContain('reasoning');
    const call = first.output.find(({ type }) => type === 'function_call');
    if (call?.type !== 'function_call') throw new Error(`no call among ${kinds.join()}`);
    const result = { type: 'function_call_output' as const, call_id: call.call_id, output: 'found it' };
    const kept = await client.responses.create({ ...asked, input: [result], previous_response_id: first.id });
    expect(JSON.stringify((await messages.seen()).lastBody)).toContain('"signature"');
    const whole = [{ role: 'user' as const, content: 'left right' }, ...first.output, result];
    const own = await client.responses.create({ ...asked, input: whole as never, store: false });
    expect(JSON.stringify((await messages.seen()).lastBody)).toContain('"signature"');
    for (const { status } of [kept, own]) expect(status).toBe('completed');
  });

  test('streams what it thinks as a summary', async () => {
    const stream = client.responses.stream({ ...asked, tools: [], input: 'one two' });
    let thought = '';
    stream.on('response.reasoning_summary_text.delta', ({ delta }) => {
      thought += delta;
    });
    const final = await stream.finalResponse();
    const [reasoning] = final.output;
    expect(reasoning).toMatchObject({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: thought }],
    });
    expect(thought).not.toBe('');
    expect(final.output_text).toBe('two one');
    expect(final.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
  });

  test('takes over when the first one fails, and goes on from there', async () => {
    const request = { model: 'openai/broken', input: 'one two' };
    const headers = { 'x-svc-fallback': model, 'x-svc-retries': '0' };
    const { data, response } = await client.responses.create(request, { headers }).withResponse();
    expect(data.output_text).toBe('two one');
    expect(response.headers.get('x-svc-fallback')).toStartWith('openai/broken');
    const stream = client.responses.stream({ ...request, previous_response_id: data.id }, { headers });
    expect((await stream.finalResponse()).output_text).toBe('two one');
  });
});

describe.each(PROVIDERS)('responses of %s in the background', (provider) => {
  const model = `${provider}/gpt-test`;

  test('are there at once, and done later', async () => {
    const begun = await client.responses.create({ model, input: 'one two three', background: true });
    expect(begun).toMatchObject({ status: 'queued', background: true, output: [] });
    const done = await ended(begun.id);
    expect(done).toMatchObject({ id: begun.id, status: 'completed', background: true });
    expect(done.output_text.trim()).toBe('three two one');
  });

  test('stream, and their events can be fetched again from any of them', async () => {
    const request = { model, input: 'one two three', background: true, stream: true } as const;
    const events = await eventsOf(await client.responses.create(request));
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error('it did not complete');
    const rest = await client.responses.retrieve(last.response.id, { stream: true, starting_after: 4 });
    expect(await eventsOf(rest)).toEqual(events.slice(5));
    const again = client.responses.stream({ response_id: last.response.id });
    expect((await again.finalResponse()).output).toMatchObject(last.response.output as never);
  });

  test('are followed while they are made, and cancelled for good', async () => {
    const { left } = await upstream.seen();
    const begun = await client.responses.create({
      model: `${provider}/hangs-midstream`,
      input: MANY_WORDS,
      background: true,
    });
    const stream = await client.responses.retrieve(begun.id, { stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    expect((await client.responses.retrieve(begun.id)).status).toBe('in_progress');
    const followed = eventsOf(await client.responses.retrieve(begun.id, { stream: true }));
    const cancelled = await client.responses.cancel(begun.id);
    expect(cancelled.status).toBe('cancelled');
    expect(JSON.stringify(cancelled.output)).toContain('word59');
    expect((await followed).at(-1)).toMatchObject({ response: { status: 'cancelled' } });
    await until(async () => ((await upstream.seen()).left > left ? true : undefined));
    expect((await client.responses.cancel(begun.id)).status).toBe('cancelled');
    expect(await client.responses.retrieve(begun.id)).toMatchObject({ status: 'cancelled' });
  });

  test('are made two at a time, as the instance allows; others wait', async () => {
    const begin = () => client.responses.create({ model: `${provider}/hangs`, input: 'x', background: true });
    const runs = [await begin(), await begin(), await begin()];
    const states = async () =>
      (await Promise.all(runs.map(({ id }) => client.responses.retrieve(id))))
        .map(({ status }) => status)
        .join();
    await until(async () => (await states()) === 'in_progress,in_progress,queued');
    await client.responses.cancel(runs[0]?.id ?? '');
    await until(async () => (await states()) === 'cancelled,in_progress,in_progress');
    for (const { id } of runs) await client.responses.delete(id);
  });

  test('that wait can be cancelled, and the upstream never hears of them', async () => {
    const begin = () => client.responses.create({ model: `${provider}/hangs`, input: 'x', background: true });
    const before = (await upstream.seen()).count;
    const runs = [await begin(), await begin()];
    await until(async () => (await upstream.seen()).count === before + 2);
    const waits = await begin();
    expect((await client.responses.cancel(waits.id)).status).toBe('cancelled');
    const events = await eventsOf(await client.responses.retrieve(waits.id, { stream: true }));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.queued',
      'response.incomplete',
    ]);
    for (const { id } of runs) await client.responses.delete(id);
    expect((await upstream.seen()).count).toBe(before + 2);
  });

  test('say why they failed', async () => {
    const begun = await client.responses.create({
      model: `${provider}/bad-request`,
      input: 'x',
      background: true,
    });
    const { status, error } = await ended(begun.id);
    expect([status, error?.code]).toEqual(['failed', 'invalid_prompt']);
    expect(error?.message).toContain('too hot');
  });

  test('can be deleted while they are made', async () => {
    const { left, count } = await upstream.seen();
    const begun = await client.responses.create({ model: `${provider}/hangs`, input: 'x', background: true });
    await until(async () => (await upstream.seen()).count > count);
    await client.responses.delete(begun.id);
    expect(await failureOf(client.responses.retrieve(begun.id))).toBeInstanceOf(NotFoundError);
    await until(async () => ((await upstream.seen()).left > left ? true : undefined));
    expect(await failureOf(client.responses.retrieve(begun.id))).toBeInstanceOf(NotFoundError);
  });
});

describe('what is refused', () => {
  const ask = (more: object) =>
    failureOf(client.responses.create({ model: 'plain/gpt-test', input: 'x', ...more } as never));

  test.each([
    [
      'a previous response that is not there',
      { previous_response_id: 'resp_nothing' },
      'previous_response_id',
    ],
    ['a conversation of a vendor', { conversation: 'conv_1' }, 'conversation'],
    ['no input', { input: undefined }, 'input'],
    ['a background that keeps nothing', { background: true, store: false }, 'store'],
    ['a tool that only its vendor runs', { tools: [LOOK_UP, { type: 'web_search' }] }, 'tools.1.type'],
    ['a reference to nothing', { input: [{ type: 'item_reference', id: 'msg_nothing' }] }, 'input.0.id'],
    [
      'a part that nobody knows',
      { input: [{ role: 'user', content: [{ type: 'smell' }] }] },
      'input.0.content.0.type',
    ],
    ['a format that nobody knows', { text: { format: { type: 'xml' } } }, 'text.format.type'],
    ['a template', { prompt: { id: 'pmpt_1' } }, 'prompt'],
  ])('%s: 400 that names it', async (_, more, param) => {
    const error = await ask(more);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error.param).toBe(param);
  });

  test('a model that is not there: 404', async () => {
    expect(await ask({ model: 'local/ehco' })).toBeInstanceOf(NotFoundError);
  });

  test('a tool of a vendor that has it passes', async () => {
    const tools = [{ type: 'web_search' as const }];
    const made = await client.responses.create({ model: 'openai/gpt-test', input: 'one two', tools });
    expect(made.output_text).toBe('two one');
    expect((await upstream.seen()).lastBody.tools).toEqual(tools);
  });

  test('cancelling, or following, what was made over a connection: 409', async () => {
    const { id } = await client.responses.create({ model: 'plain/gpt-test', input: 'x' });
    expect(await failureOf(client.responses.cancel(id))).toBeInstanceOf(ConflictError);
    const followed = client.responses.retrieve(id, { stream: true });
    expect(await failureOf(followed as Promise<unknown>)).toBeInstanceOf(ConflictError);
  });

  test('going on from one that is still made: 409', async () => {
    const begun = await client.responses.create({ model: 'plain/hangs', input: 'x', background: true });
    const error = await ask({ previous_response_id: begun.id });
    expect(error).toBeInstanceOf(ConflictError);
    await client.responses.delete(begun.id);
  });
});

describe('the list', () => {
  interface Listed {
    readonly data: ReadonlyArray<Record<string, unknown> & { id: string }>;
    readonly object: string;
    readonly firstId: string;
    readonly lastId: string;
    readonly hasMore: boolean;
  }
  const list = async (query: string) =>
    (await (await daemon.fetch(`/compat/v1/responses?${query}`)).json()) as Listed;

  test('pages both ways, by state, in the native format', async () => {
    const made: string[] = [];
    for (const input of ['a', 'b', 'c', 'd'])
      made.push((await client.responses.create({ model: 'plain/gpt-test', input, temperature: 0.5 })).id);
    const newest = made.toReversed();
    const first = await list('limit=2');
    expect(first).toMatchObject({ object: 'list', firstId: newest[0], lastId: newest[1], hasMore: true });
    expect(first.data[0]).toMatchObject({
      object: 'response',
      createdAt: expect.stringMatching(/^\d+$/),
      status: 'completed',
      temperature: 0.5,
      usage: { outputTokens: 1 },
      output: [{ type: 'message', role: 'ROLE_ASSISTANT', content: [{ type: 'text', text: 'd' }] }],
    });
    const second = await list(`limit=2&after=${first.lastId}`);
    expect(second.data.map(({ id }) => id)).toEqual(newest.slice(2));
    const back = await list(`limit=1&before=${second.firstId}`);
    expect(back.data.map(({ id }) => id)).toEqual([newest[1] ?? '']);
    const rising = await list(`order=asc&limit=2&after=${made[1]}`);
    expect(rising.data.map(({ id }) => id)).toEqual(made.slice(2));
    expect((await list('status=failed&limit=100')).data.every(({ status }) => status === 'failed')).toBe(
      true,
    );
  });

  test.each(['status=wrong', 'after=x', 'before=x', 'limit=0', 'limit=101', 'order=up'])(
    '%s: 400 that names it',
    async (query) => {
      const answer = await daemon.fetch(`/compat/v1/responses?${query}`);
      expect(answer.status).toBe(400);
      const { error } = (await answer.json()) as { error: { param: string } };
      expect(error.param).toBe(query.split('=')[0] ?? '');
    },
  );
});

describe('the command line', () => {
  const svc = async (...words: string[]) => {
    const at = { SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey };
    const child = Bun.spawn([...svcCommand(), 'response', ...words], {
      env: { ...process.env, ...at },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, err] = await Promise.all([
      new globalThis.Response(child.stdout).text(),
      new globalThis.Response(child.stderr).text(),
    ]);
    return { code: await child.exited, out, err };
  };

  test('lists, shows, ends and removes them', async () => {
    const made = await client.responses.create({ model: 'local/echo', input: 'one two three' });
    expect((await svc('list')).out).toContain(`${made.id}\tcompleted\tlocal/echo\t6\t`);
    const shown = await svc('get', made.id);
    expect(shown.out).toMatch(/text\s+one two three/);
    const begun = await client.responses.create({ model: 'plain/hangs', input: 'x', background: true });
    expect(await svc('cancel', begun.id)).toMatchObject({ code: 0 });
    expect(JSON.parse((await svc('get', begun.id, '--json')).out).status).toBe('cancelled');
    expect(await svc('rm', made.id, begun.id)).toMatchObject({ code: 0 });
    const gone = await svc('get', made.id);
    expect(gone.code).toBe(5);
    expect(gone.err).toContain(made.id);
  }, 30_000);
});

describe('two tenants', () => {
  let tenants: TwoTenants;
  let owners: OpenAI[];
  const model = 'local/echo';
  beforeAll(async () => {
    tenants = await TwoTenants.start();
    const own = await tenants.key({ 'x-svc-api-key': tenants.daemon.apiKey });
    const { session } = await tenants.stranger('sam');
    const strangers = await tenants.key(tenants.fromPage(session));
    owners = [own, strangers].map(({ key }) => clientOf({ ...tenants.daemon, apiKey: key }));
  }, 60_000);
  afterAll(() => tenants?.stop());

  test('see, change and go on from nothing of each other', async () => {
    for (const [mine, other] of [owners, owners.toReversed()]) {
      if (!mine || !other) throw new Error('no tenants');
      const kept = await mine.responses.create({ model, input: 'a secret' });
      const begun = await mine.responses.create({ model, input: 'another', background: true });
      const [item] = (await mine.responses.inputItems.list(kept.id)).data;
      for (const id of [kept.id, begun.id]) {
        const refused = [
          async () => other.responses.retrieve(id),
          async () => other.responses.retrieve(id, { stream: true }),
          async () => other.responses.cancel(id),
          async () => other.responses.delete(id),
          async () => other.responses.inputItems.list(id),
        ];
        for (const ask of refused) expect(await failureOf(ask())).toBeInstanceOf(NotFoundError);
        const next = other.responses.create({ model, input: 'x', previous_response_id: id });
        expect((await failureOf(next)).param).toBe('previous_response_id');
      }
      const reference = { type: 'item_reference' as const, id: item?.id ?? '' };
      expect((await failureOf(other.responses.create({ model, input: [reference] }))).param).toBe(
        'input.0.id',
      );
      const { data } = (await other.get('/responses?limit=100')) as { data: Array<{ id: string }> };
      expect(data.map(({ id }) => id)).not.toContain(kept.id);
      expect((await mine.responses.retrieve(kept.id)).output_text).toBe('a secret');
      expect((await ended(begun.id, mine)).output_text).toBe('another');
    }
  });
});

describe('kill -9', () => {
  test('what had begun has failed, what waited is made, what was done is there', async () => {
    let killed = await startDaemon({ env: { ...env(), SVC_GATEWAY_BACKGROUND_RESPONSES: '1' } });
    const { dataDir, apiKey } = killed;
    try {
      const before = clientOf(killed);
      const done = await before.responses.create({ model: 'plain/gpt-test', input: 'one two' });
      const hangs = await before.responses.create({ model: 'plain/hangs', input: 'x', background: true });
      await until(async () => (await upstream.seen()).lastBody.model === 'hangs');
      const waits = await before.responses.create({
        model: 'plain/gpt-test',
        input: 'three four',
        previous_response_id: done.id,
        background: true,
      });
      expect(waits.status).toBe('queued');
      const { count } = await upstream.seen();
      await killed.kill9();
      killed = await startDaemon({ env: env(), dataDir, apiKey });
      const after = clientOf(killed);
      expect(await after.responses.retrieve(done.id)).toEqual(done);
      const failed = await after.responses.retrieve(hangs.id);
      expect([failed.status, failed.error?.code]).toEqual(['failed', 'server_error']);
      const events = await eventsOf(
        await after.responses.retrieve(hangs.id, { stream: true, starting_after: 7 }),
      );
      expect(events.map(({ type }) => type)).toEqual(['response.failed']);
      expect((await ended(waits.id, after)).output_text.trim()).toBe('four three');
      expect((await upstream.seen()).count).toBe(count + 1);
    } finally {
      await killed.stop();
    }
  }, 60_000);
});

describe('a stop in the middle', () => {
  test('what is made in the background then has failed, with what was said', async () => {
    let stopped = await startDaemon({ env: env() });
    const { dataDir, apiKey } = stopped;
    try {
      const before = clientOf(stopped);
      const request = {
        model: 'plain/hangs-midstream',
        input: MANY_WORDS,
        background: true,
        stream: true,
      } as const;
      let id = '';
      for await (const event of await before.responses.create(request)) {
        if (event.type === 'response.created') id = event.response.id;
        if (event.type === 'response.output_text.delta') break;
      }
      await stopped.stop({ keep: true });
      stopped = await startDaemon({ env: env(), dataDir, apiKey });
      const kept = await clientOf(stopped).responses.retrieve(id);
      expect([kept.status, kept.error?.code]).toEqual(['failed', 'server_error']);
      expect(kept.output_text).toStartWith('word59');
    } finally {
      await stopped.stop();
    }
  }, 60_000);
});
