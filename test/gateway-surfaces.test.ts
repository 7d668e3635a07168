import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { APIError, BadRequestError, NotFoundError, RateLimitError, toFile } from 'openai';
import { type SurfacesScene, startSurfaces } from './support/surfaces-scene.ts';
import { heardIn, packed, pngOf, vectorOf, wavOf } from './support/upstream-surfaces-answer.ts';

let scene: SurfacesScene;
let client: OpenAI;

beforeAll(async () => {
  scene = await startSurfaces();
  client = scene.client;
});

afterAll(() => scene?.stop());

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as APIError,
  );

describe('embeddings', () => {
  test('reach the stock client as numbers, whatever the upstream makes of its wish for Base64', async () => {
    for (const model of ['openai/embed', 'openai/embed-float', 'openai/embed-strict']) {
      const { data, usage } = await client.embeddings.create({ model, input: ['one', 'two words'] });
      expect(data.map(({ embedding }) => embedding)).toEqual([vectorOf('one'), vectorOf('two words')]);
      expect(usage).toEqual({ prompt_tokens: 12, total_tokens: 12 });
    }
  });

  test.each([
    ['float', 'openai/embed', vectorOf('x', 40)],
    ['base64', 'openai/embed', packed(vectorOf('x', 40))],
    ['base64', 'openai/embed-float', packed(vectorOf('x', 40))],
  ])('come as %s from %s when that was asked for', async (encoding_format, model, embedding) => {
    const request = { model, input: 'x', encoding_format, dimensions: 40 };
    const { body, headers } = await scene.post('/compat/v1/embeddings', request);
    expect(body).toMatchObject({ object: 'list', data: [{ object: 'embedding', index: 0, embedding }] });
    expect(headers.get('x-svc-provider')).toBe('openai');
  });

  test('take token numbers, and pass fields on that the gateway does not know', async () => {
    const input = [[1, 2], [3]];
    await scene.post('/compat/v1/embeddings', { model: 'openai/embed', input: [1, 2, 3], task: 'x' });
    expect((await scene.seen()).lastBody).toEqual({ model: 'embed', input: [1, 2, 3], task: 'x' });
    expect((await scene.post('/compat/v1/embeddings', { model: 'openai/embed', input })).status).toBe(200);
    const refused = await failure(client.embeddings.create({ model: 'voyage/voyage-3', input }));
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(refused?.param).toBe('input');
  });

  test('speak the dialects of voyage and jina', async () => {
    for (const model of ['voyage/voyage-3', 'jina/jina-embeddings-v3']) {
      const made = await client.embeddings.create({ model, input: 'some words', dimensions: 6, user: 'me' });
      expect(made.data[0]?.embedding).toEqual(vectorOf('some words', 6));
      expect(made.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
      const plain = await client.embeddings.create({ model, input: ['a', 'b'], encoding_format: 'float' });
      expect(plain.data.map(({ embedding }) => embedding)).toEqual([vectorOf('a', 4), vectorOf('b', 4)]);
    }
  });

  test('are refused with the field, the limit or the provider named', async () => {
    const empty = await failure(client.embeddings.create({ model: 'openai/embed', input: [] }));
    expect([empty?.status, empty?.param]).toEqual([400, 'input']);
    const said = await failure(client.embeddings.create({ model: 'openai/embed', input: '' }));
    expect([said?.status, said?.param]).toEqual([400, 'input']);
    const limited = await failure(client.embeddings.create({ model: 'openai/limited', input: 'x' }));
    expect(limited).toBeInstanceOf(RateLimitError);
    const page = await failure(client.embeddings.create({ model: 'openai/page', input: 'x' }));
    expect(page?.status).toBe(502);
    const echo = await failure(client.embeddings.create({ model: 'local/echo', input: 'x' }));
    expect(echo).toBeInstanceOf(BadRequestError);
    expect(echo?.code).toBe('not_offered');
  });
});

describe('text completions', () => {
  test('pass, whole and as a stream, with usage when it was asked for', async () => {
    const whole = await client.completions.create({ model: 'openai/text-1', prompt: 'a b c' });
    expect(whole.choices[0]?.text).toBe('c b a');
    for (const include_usage of [true, false]) {
      const stream = await client.completions.create({
        model: 'openai/text-1',
        prompt: 'a b c',
        stream: true,
        stream_options: { include_usage },
      });
      let text = '';
      let total: number | undefined;
      for await (const { choices, usage } of stream) {
        text += choices[0]?.text ?? '';
        total = usage?.total_tokens ?? total;
      }
      expect(text).toBe('c b a ');
      expect(total).toBe(include_usage ? 6 : undefined);
    }
  });

  test('go over chat for a model or a provider that only chats', async () => {
    const echo = await client.completions.create({ model: 'local/echo', prompt: 'so it is', echo: true });
    expect(echo).toMatchObject({ object: 'text_completion', usage: { total_tokens: 6 } });
    expect(echo.choices).toMatchObject([{ index: 0, text: 'so it isso it is', finish_reason: 'stop' }]);
    const whole = await client.completions.create({ model: 'openai/chat-only', prompt: ['one two'] });
    expect(whole.choices[0]?.text).toBe('two one');
    const stream = await client.completions.create({
      model: 'openai/chat-only',
      prompt: 'one two',
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe('two one ');
    expect(chunks.every(({ object }) => object === 'text_completion')).toBe(true);
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(2);
  });

  test.each([
    ['suffix', { suffix: 'end' }],
    ['logprobs', { logprobs: 2 }],
    ['best_of', { best_of: 3 }],
    ['prompt', { prompt: ['a', 'b'] }],
    ['prompt', { prompt: [1, 2] }],
  ])('name %s when chat cannot do it', async (param, more) => {
    const error = await failure(
      client.completions.create({ model: 'local/echo', prompt: 'x', ...more } as never),
    );
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error?.param).toBe(param);
  });

  test('that break off in the middle end with an error', async () => {
    const words = Array.from({ length: 60 }, (_, i) => `w${i}`).join(' ');
    const stream = await client.completions.create({
      model: 'openai/fails-midstream',
      prompt: words,
      stream: true,
    });
    const error = await failure(Array.fromAsync(stream));
    expect(error).toBeInstanceOf(APIError);
    expect(String(error)).toContain('closed the connection');
  });

  test('that are left stop the upstream', async () => {
    const { left } = await scene.seen();
    const words = Array.from({ length: 60 }, (_, i) => `w${i}`).join(' ');
    const stream = await client.completions.create({
      model: 'openai/hangs-midstream',
      prompt: words,
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.text) break;
    const start = performance.now();
    while ((await scene.seen()).left === left && performance.now() - start < 5000) await Bun.sleep(2);
    expect((await scene.seen()).left).toBe(left + 1);
  });
});

describe('moderation', () => {
  test('judges texts, and says flagged where the provider only names categories', async () => {
    const judged = await client.moderations.create({ model: 'openai/judge', input: ['be kind', 'kill it'] });
    expect(judged.results.map(({ flagged }) => flagged)).toEqual([false, true]);
    const bare = await client.moderations.create({ model: 'openai/judge-bare', input: 'kill it' });
    expect(bare.results[0]).toMatchObject({ flagged: true, categories: { violence: true } });
  });

  test('takes the model of the family when none is named', async () => {
    await client.moderations.create({ input: [{ type: 'text', text: 'be kind' }] });
    expect((await scene.seen()).lastBody.model).toBe('omni-moderation-latest');
  });
});

describe('images', () => {
  const picture = () => toFile(pngOf('mine'), 'mine.png', { type: 'image/png' });
  const bytes = (b64: string | undefined) => Buffer.from(b64 ?? '', 'base64');

  test('are made from a text', async () => {
    const made = await client.images.generate({ model: 'openai/paint', prompt: 'a red fox', n: 2 });
    expect(made.data?.map(({ b64_json }) => bytes(b64_json))).toEqual([
      pngOf('a red fox 0'),
      pngOf('a red fox 1'),
    ]);
    const linked = await client.images.generate({
      model: 'openai/paint',
      prompt: 'x',
      response_format: 'url',
    });
    expect(linked.data?.[0]?.url).toBe('https://pictures.example/0.png');
  });

  test('come in parts when they stream', async () => {
    const stream = await client.images.generate({
      model: 'openai/paint',
      prompt: 'fox',
      stream: true,
      partial_images: 1,
    });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    expect(bytes(events[1]?.b64_json)).toEqual(pngOf('fox 0'));
  });

  test('are changed by a text: one, several, with a mask, and as a stream', async () => {
    const one = await client.images.edit({ model: 'openai/paint', image: await picture(), prompt: 'blue' });
    expect(bytes(one.data?.[0]?.b64_json)).toEqual(pngOf(`blue ${heardIn('mine.png', pngOf('mine'))} 0`));
    const image = [await picture(), await toFile(pngOf('other'), 'other.png')];
    await client.images.edit({ model: 'openai/paint', image, mask: await picture(), prompt: 'blue', n: 2 });
    const { lastForm } = await scene.seen();
    const files = lastForm.filter(({ size }) => size).map(({ field }) => field);
    expect(files.toSorted()).toEqual(['image[]', 'image[]', 'mask']);
    expect(lastForm.find(({ field }) => field === 'model')?.text).toBe('paint');
    const stream = await client.images.edit({
      model: 'openai/paint',
      image: await picture(),
      prompt: 'x',
      stream: true,
    });
    expect((await Array.fromAsync(stream)).map(({ type }) => type)).toEqual([
      'image_edit.partial_image',
      'image_edit.completed',
    ]);
  });

  test('are varied, as a form and natively', async () => {
    const expected = pngOf(`variation ${pngOf('mine').length} 0`);
    const varied = await client.images.createVariation({ model: 'openai/paint', image: await picture() });
    expect(bytes(varied.data?.[0]?.b64_json)).toEqual(expected);
    const image = pngOf('mine').toString('base64');
    const native = await scene.post('/v1/images/variations', {
      image,
      model: 'openai/paint',
      n: 1,
      responseFormat: 'b64_json',
    });
    expect(native.body).toMatchObject({
      created: '1700000000',
      model: 'openai/paint',
      data: [{ b64Json: expected.toString('base64') }],
    });
    expect(native.headers.get('x-svc-model')).toBe('paint');
  });

  test('take the model of the family when none is named', async () => {
    await client.images.generate({ prompt: 'x' });
    expect((await scene.seen()).lastBody.model).toBe('gpt-image-1');
    await client.images.createVariation({ image: await picture() });
    expect((await scene.seen()).lastForm.find(({ field }) => field === 'model')?.text).toBe('dall-e-2');
  });

  test('name the part that is wrong', async () => {
    const text = await toFile(Buffer.from('no picture at all'), 'mine.png');
    const wrong = await failure(client.images.edit({ model: 'openai/paint', image: text, prompt: 'x' }));
    expect([wrong?.status, wrong?.param]).toEqual([400, 'image']);
    const many = await failure(
      client.images.edit({ model: 'openai/paint', image: await picture(), prompt: 'x', n: 11 }),
    );
    expect([many?.status, many?.param]).toEqual([400, 'n']);
    const native = await scene.post('/v1/images/variations', { image: 'aGVsbG8=', model: 'openai/paint' });
    expect(native).toMatchObject({
      status: 400,
      body: { code: 3, message: expect.stringContaining('image') },
    });
    const nothing = await scene.post('/v1/images/variations', { model: 'openai/paint' });
    expect(nothing).toMatchObject({ status: 400, body: { message: 'image: is required' } });
    const none = await failure(client.images.generate({ model: 'local/echo', prompt: 'x' }));
    expect(none?.code).toBe('not_offered');
  });
});

describe('speech', () => {
  test('streams the bytes of the sound', async () => {
    const input = 'good morning dear world';
    const response = await client.audio.speech.create({
      model: 'openai/speak',
      voice: 'alloy',
      input,
      response_format: 'wav',
    });
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(wavOf(input));
  });

  test('comes as events when that was asked for', async () => {
    const response = await client.audio.speech.create({
      model: 'openai/speak',
      voice: 'alloy',
      input: 'hi',
      stream_format: 'sse',
    });
    const events = (await response.text()).match(/data: .*/g)?.map((line) => JSON.parse(line.slice(6))) ?? [];
    const sound = Buffer.concat(events.slice(0, 2).map(({ audio }) => Buffer.from(audio, 'base64')));
    expect(sound).toEqual(wavOf('hi'));
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { total_tokens: 9 } });
  });

  test('that breaks off breaks the connection, so that no half sound passes for a whole one', async () => {
    const work = client.audio.speech.create({
      model: 'openai/fails-midstream',
      voice: 'alloy',
      input: 'some words',
    });
    expect(await failure(work.then((response) => response.arrayBuffer()))).toBeInstanceOf(Error);
  });

  test('names what is wrong', async () => {
    const format = await failure(
      client.audio.speech.create({ model: 'openai/speak', voice: 'a', input: 'x', response_format: 'flac' }),
    );
    expect([format?.status, format?.param]).toEqual([400, 'response_format']);
    const long = await failure(
      client.audio.speech.create({ model: 'openai/speak', voice: 'a', input: 'x'.repeat(4097) }),
    );
    expect([long?.status, long?.param]).toEqual([400, 'input']);
  });
});

describe('what is said', () => {
  const sound = wavOf('hello');
  const file = () => toFile(sound, 'hello world.wav', { type: 'audio/wav' });
  const heard = heardIn('hello world.wav', sound);

  test('is written down, its file first and its model last in the form', async () => {
    const made = await client.audio.transcriptions.create({
      file: await file(),
      language: 'en',
      model: 'openai/hear',
    });
    expect(made.text).toBe(`transcribe ${heard} en -`);
    const { lastForm } = await scene.seen();
    expect(lastForm).toContainEqual({ field: 'model', text: 'hear' });
    expect(lastForm.find(({ field }) => field === 'file')).toMatchObject({
      name: 'hello world.wav',
      size: sound.length,
    });
  });

  test.each([
    ['text', `transcribe ${heard} - -\n`],
    ['srt', `1\n00:00:00,000 --> 00:00:01,000\ntranscribe ${heard} - -\n\n`],
    ['vtt', `WEBVTT\n\n00:00.000 --> 00:01.000\ntranscribe ${heard} - -\n\n`],
  ] as const)('comes as %s', async (response_format, text) => {
    const made = await client.audio.transcriptions.create({
      file: await file(),
      model: 'openai/hear',
      response_format,
    });
    expect(made as unknown).toBe(text);
  });

  test('comes with times', async () => {
    const made = await client.audio.transcriptions.create({
      file: await file(),
      model: 'openai/hear',
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(made).toMatchObject({ duration: 8.5, words: 'word,segment' });
  });

  test('takes fields that stand more than once as they come', async () => {
    const form = new FormData();
    form.append('file', new Blob([sound]), 'x.wav');
    form.append('include', 'logprobs');
    form.append('include', 'more');
    form.append('model', 'openai/hear');
    const headers = { authorization: `Bearer ${scene.daemon.apiKey}` };
    await fetch(`${scene.daemon.url}/compat/v1/audio/transcriptions`, {
      method: 'POST',
      headers,
      body: form,
    });
    const { lastForm } = await scene.seen();
    expect(lastForm.filter(({ field }) => field === 'include').map(({ text }) => text)).toEqual([
      'logprobs',
      'more',
    ]);
  });

  test('streams', async () => {
    const stream = await client.audio.transcriptions.create({
      file: await file(),
      model: 'openai/hear',
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    const text = events.map((event) => (event.type === 'transcript.text.delta' ? event.delta : '')).join('');
    expect(text).toBe(`transcribe ${heard} - - `);
    expect(events.at(-1)?.type).toBe('transcript.text.done');
  });

  test('is written down in English', async () => {
    const made = await client.audio.translations.create({
      file: await file(),
      model: 'openai/hear',
      prompt: 'fox',
    });
    expect(made.text).toBe(`translate ${heard} - fox`);
  });

  test('names the part that is wrong', async () => {
    const ask = (fields: Record<string, string | Blob>, type?: string) => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      const headers = {
        authorization: `Bearer ${scene.daemon.apiKey}`,
        ...(type ? { 'content-type': type } : {}),
      };
      return fetch(`${scene.daemon.url}/compat/v1/audio/transcriptions`, {
        method: 'POST',
        headers,
        body: form,
      });
    };
    const blob = new Blob([sound]);
    for (const [param, fields] of [
      ['file', { model: 'openai/hear' }],
      ['file', { model: 'openai/hear', file: 'not a file' }],
      ['file', { model: 'openai/hear', file: new Blob([]) }],
      ['model', { file: blob }],
      ['temperature', { model: 'openai/hear', file: blob, temperature: 'hot' }],
      ['response_format', { model: 'openai/hear', file: blob, response_format: 'pdf' }],
      [
        'timestamp_granularities',
        { model: 'openai/hear', file: blob, 'timestamp_granularities[]': 'letter' },
      ],
    ] as const) {
      const response = await ask(fields as unknown as Record<string, string | Blob>);
      const { error } = (await response.json()) as { error: { param: string } };
      expect([response.status, error.param?.split('.')[0]]).toEqual([400, param]);
    }
    expect((await ask({ model: 'x', file: blob }, 'application/json')).status).toBe(400);
    const missing = await failure(
      client.audio.transcriptions.create({ file: await file(), model: 'openia/hear' }),
    );
    expect(missing).toBeInstanceOf(NotFoundError);
  });
});

describe('reranking', () => {
  const documents = ['the cat sat', 'a dog ran far away', 'cats and dogs'];

  test('goes to voyage and jina, and is answered natively', async () => {
    for (const [model, inputTokens] of [
      ['voyage/rerank-2.5', 26],
      ['jina/jina-reranker-v2', 62],
    ]) {
      const asked = { model, query: 'dog far', documents, topN: 2, returnDocuments: true };
      const { status, body, headers } = await scene.post('/v1/rerank', asked);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        id: headers.get('x-request-id'),
        model,
        results: [
          { index: 1, relevanceScore: 1, document: documents[1] },
          { index: 2, relevanceScore: 0.5, document: documents[2] },
        ],
        meta: { isBillable: true, tokens: { inputTokens } },
      });
      expect(headers.get('x-svc-provider')).toBe(String(model).split('/')[0] ?? '');
    }
  });

  test('is done by words alone by local/bm25', async () => {
    const documentObjects = documents.map((text) => ({ text }));
    const { body } = await scene.post('/v1/rerank', { model: 'local/bm25', query: 'a DOG', documentObjects });
    const { results, meta } = body as {
      results: Array<{ index: number; relevanceScore: number }>;
      meta: object;
    };
    expect(results.map(({ index }) => index)).toEqual([1, 0, 2]);
    expect(results[0]?.relevanceScore).toBeGreaterThan(0);
    expect(results.slice(1)).toEqual([
      { index: 0, relevanceScore: 0 },
      { index: 2, relevanceScore: 0 },
    ]);
    expect(meta).toMatchObject({ isBillable: false, tokens: { inputTokens: 13 } });
  });

  test.each([
    ['model', {}],
    ['query', { model: 'local/bm25', documents }],
    ['documents', { model: 'local/bm25', query: 'x', documents: [] }],
    ['documentObjects', { model: 'local/bm25', query: 'x', documents, documentObjects: [{ text: 'x' }] }],
    ['topN', { model: 'local/bm25', query: 'x', documents, topN: 0 }],
  ])('names %s when it is wrong', async (field, asked) => {
    const { status, body } = await scene.post('/v1/rerank', asked);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(`"field":"${field}"`);
  });

  test('is not offered by a provider that only chats', async () => {
    const { status, body } = await scene.post('/v1/rerank', { model: 'local/echo', query: 'x', documents });
    expect(status).toBe(400);
    expect((body as { message: string }).message).toContain('local/bm25');
  });

  test('keeps one answer for one Idempotency-Key', async () => {
    const init = {
      method: 'POST',
      body: JSON.stringify({ model: 'voyage/rerank-2.5', query: 'dog', documents }),
    };
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'once-only' };
    const { count } = await scene.seen();
    const bodies = [1, 2].map(async () =>
      (await scene.daemon.fetch('/v1/rerank', { ...init, headers })).json(),
    );
    const [first, second] = await Promise.all(bodies);
    expect(second).toEqual(first);
    expect((await scene.seen()).count).toBe(count + 1);
  });
});

test('an Idempotency-Key does no harm to calls of models', async () => {
  const made = await client.embeddings.create(
    { model: 'openai/embed', input: 'x' },
    { headers: { 'idempotency-key': 'a-key' } },
  );
  expect(made.data).toHaveLength(1);
});

test('a form goes to a second model when the first is limited, its file whole again', async () => {
  const large = Buffer.concat(Array.from({ length: 30 }, (_, i) => wavOf(`part ${i}`.repeat(5))));
  const file = await toFile(large, 'large.wav');
  const headers = { 'x-svc-fallback': 'openai/hear' };
  const asked = client.audio.transcriptions.create({ file, model: 'openai/limited-here' }, { headers });
  const { data, response } = await asked.withResponse();
  expect(data.text).toBe(`transcribe ${heardIn('large.wav', large)} - -`);
  expect(response.headers.get('x-svc-attempts')).toBe('2');
  expect(response.headers.get('x-svc-fallback')).toBe('openai/limited-here; rate_limit');
});

describe('the books', () => {
  /** Makes a request known by its model, and answers its record. */
  async function recordOf(model: string, make: () => Promise<unknown>): Promise<Record<string, unknown>> {
    await make().catch(() => undefined);
    for (let attempt = 0; attempt < 400; attempt++) {
      const response = await scene.daemon.fetch('/v1/usage/requests?limit=50');
      const { requests } = (await response.json()) as { requests: Array<Record<string, unknown>> };
      const mine = requests.filter(({ requestedModel }) => requestedModel === model);
      if (mine[0]) {
        expect(mine).toHaveLength(1);
        return mine[0];
      }
      await Bun.sleep(10);
    }
    throw new Error(`nothing is written of ${model}`);
  }

  const sound = () => toFile(Buffer.alloc(48_000), 'x.wav');
  const words = Array.from({ length: 60 }, (_, i) => `w${i}`).join(' ');

  test.each([
    [
      'openai/b1',
      'embeddings',
      { inputTokens: '3' },
      (model: string) => client.embeddings.create({ model, input: 'abc' }),
    ],
    [
      'openai/b2',
      'completions',
      { inputTokens: '2', outputTokens: '2' },
      (model: string) => client.completions.create({ model, prompt: 'a b' }),
    ],
    [
      'openai/b3',
      'image_generations',
      { images: 3, outputTokens: '300' },
      (model: string) => client.images.generate({ model, prompt: 'x', n: 3 }),
    ],
    [
      'openai/b4',
      'speech',
      { characters: '5' },
      async (model: string) =>
        (await client.audio.speech.create({ model, voice: 'a', input: 'héllo' })).arrayBuffer(),
    ],
    [
      'openai/b5',
      'transcriptions',
      { seconds: 3 },
      async (model: string) => client.audio.transcriptions.create({ model, file: await sound() }),
    ],
    [
      'openai/b6',
      'transcriptions',
      { inputTokens: '14', outputTokens: '45', streamed: true },
      async (model: string) =>
        Array.fromAsync(
          await client.audio.transcriptions.create({ model, file: await sound(), stream: true }),
        ),
    ],
    [
      'openai/b7',
      'image_generations',
      { images: 1, outputTokens: '100' },
      async (model: string) =>
        Array.fromAsync(await client.images.generate({ model, prompt: 'x', stream: true })),
    ],
    [
      'voyage/b8',
      'rerank',
      { inputTokens: '26' },
      (model: string) => scene.post('/v1/rerank', { model, query: 'x', documents: ['x'] }),
    ],
  ])('have %s of %s once, with what it took', async (model, surface, took, make) => {
    expect(await recordOf(model, () => make(model))).toMatchObject({
      model,
      surface,
      ending: 'completed',
      status: 200,
      ...took,
    });
  });

  test('have a stream that broke off as failed, with an estimate', async () => {
    const model = 'openai/fails-midstream-b9';
    const record = await recordOf(model, async () =>
      Array.fromAsync(await client.completions.create({ model, prompt: words, stream: true })),
    );
    expect(record).toMatchObject({ ending: 'failed', error: 'upstream_failed' });
    expect(Number(record.inputTokens)).toBeGreaterThan(0);
  });

  test('have a sound that was left as stopped', async () => {
    const model = 'openai/hangs-midstream-b10';
    const record = await recordOf(model, async () => {
      const response = await client.audio.speech.create({ model, voice: 'a', input: 'some words' });
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    });
    expect(record).toMatchObject({ ending: 'stopped', characters: '10' });
  });
});
