import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { type FakeProvider, startFake } from './support/fake-provider.ts';
import { EMBEDDINGS_KEY } from './support/upstream-embeddings.ts';

let upstream: FakeProvider;
let daemon: TestDaemon;
const dir = mkdtempSync(join(tmpdir(), 'svc-memory-'));
const env = () => ({
  SVC_PROVIDERS: JSON.stringify({ emb: { base_url: `${upstream.origin}/v1`, api_key: EMBEDDINGS_KEY } }),
});

beforeAll(async () => {
  upstream = await startFake(join(import.meta.dir, 'support/upstream-embeddings.ts'));
  daemon = await startDaemon({ env: env() });
});

afterAll(async () => {
  await daemon?.stop();
  await upstream?.stop();
  rmSync(dir, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, never> & {
    readonly results?: ReadonlyArray<{ documentId: string; score: number; chunkText: string }>;
  };
}

async function send(method: string, path: string, body?: object): Promise<Answer> {
  const response = await daemon.fetch(`/v1/memory${path}`, {
    method,
    ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

async function svc(argv: string[], stdin?: string) {
  const { url, apiKey, dataDir } = daemon;
  const child = Bun.spawn([...svcCommand(), 'memory', ...argv], {
    cwd: dir,
    env: { PATH: process.env.PATH, HOME: dataDir, SVC_API_URL: url, SVC_API_KEY: apiKey },
    stdin: stdin === undefined ? 'ignore' : new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

const documents = [
  {
    content: 'The staging database runs on the host db2.\n\nIt is restored every night.',
    metadata: { team: 'ops' },
    source: 'wiki',
  },
  { content: 'Invoices are sent on the first day of a month.', metadata: { team: 'finance' } },
  { content: 'The cafeteria has soup on Fridays.' },
];

describe('over a provider', () => {
  test('a collection is made, filled, asked and removed', async () => {
    const made = await send('POST', '/collections', {
      name: 'notes',
      embeddingModel: 'emb/words',
      metadata: { a: 'b' },
    });
    expect(made).toMatchObject({
      status: 200,
      body: {
        collection: {
          name: 'notes',
          embeddingModel: 'emb/words',
          embeddingDimension: 96,
          metadata: { a: 'b' },
        },
      },
    } as never);
    const added = await send('POST', '/collections/notes/documents', { documents });
    expect(added).toMatchObject({ status: 200, body: { chunksCreated: 3 } } as never);
    const found = await send('POST', '/collections/notes/query', {
      query: 'which host has the staging database',
    });
    expect(found.body.results?.[0]?.chunkText).toContain('db2');
    const filtered = await send('POST', '/collections/notes/query', {
      query: 'which host has the staging database',
      topK: 1,
      metadataFilter: { team: 'finance' },
    });
    expect(filtered.body.results?.map(({ chunkText }) => chunkText)).toEqual([documents[1]?.content ?? '']);
    const id = found.body.results?.[0]?.documentId;
    expect((await send('DELETE', `/collections/notes/documents/${id}`)).body).toEqual({
      success: true,
    } as never);
    expect((await send('GET', '/collections/notes')).body).toMatchObject({
      collection: { documentCount: 2 },
    } as never);
    expect((await send('DELETE', '/collections/notes')).body).toEqual({ success: true } as never);
    expect((await send('GET', '/collections/notes')).status).toBe(404);
  });

  test('the calls for vectors are in the request log of the caller', async () => {
    await send('POST', '/collections', { name: 'logged', embeddingModel: 'emb/words' });
    let models: string[] = [];
    for (let i = 0; i < 100 && !models.includes('emb/words'); i++) {
      await Bun.sleep(50);
      const response = await daemon.fetch('/v1/usage?groupBy=model');
      models =
        ((await response.json()) as { groups?: Array<{ group?: string }> }).groups?.map(
          ({ group = '' }) => group,
        ) ?? [];
    }
    expect(models).toContain('emb/words');
  });

  test('a model that can be asked for a dimension is, and one that cannot is refused', async () => {
    const short = await send('POST', '/collections', {
      name: 'short',
      embeddingModel: 'emb/words',
      embeddingDimension: 32,
    });
    expect(short.body).toMatchObject({ collection: { embeddingDimension: 32 } } as never);
    await send('POST', '/collections/short/documents', { documents });
    const found = await send('POST', '/collections/short/query', { query: 'soup on Fridays' });
    expect(found.body.results?.[0]?.chunkText).toContain('soup');
    const fixed = await send('POST', '/collections', {
      name: 'fixed',
      embeddingModel: 'emb/fixed',
      embeddingDimension: 32,
    });
    expect(fixed.status).toBe(400);
    expect(JSON.stringify(fixed.body)).toContain('makes vectors of 96 numbers');
    expect((await send('POST', '/collections', { name: 'fixed', embeddingModel: 'emb/fixed' })).status).toBe(
      200,
    );
  });

  test('documents of which one cannot be embedded are not added', async () => {
    await send('POST', '/collections', { name: 'whole', embeddingModel: 'emb/words' });
    const failed = await send('POST', '/collections/whole/documents', {
      documents: [...documents, { content: 'poison' }],
    });
    expect(failed.status).toBe(502);
    expect((await send('GET', '/collections/whole')).body).toMatchObject({
      collection: { documentCount: 0 },
    } as never);
    const found = await send('POST', '/collections/whole/query', { query: 'staging database' });
    expect(found.body.results).toEqual([]);
  });

  test.each([
    ['POST', '/collections', { name: 'x', distanceMetric: 'far' }, 400],
    ['POST', '/collections', { name: 'short' }, 409],
    ['POST', '/collections/nowhere/documents', { documents }, 404],
    ['POST', '/collections/nowhere/query', { query: 'x' }, 404],
    ['POST', '/collections/short/query', { query: 'x', minScore: 2 }, 400],
    ['POST', '/collections/short/query', { query: 'x', topK: 0 }, 400],
    ['POST', '/collections/short/documents', { documents: [] }, 400],
    ['POST', '/collections/short/documents', { documents, chunkSize: 3 }, 400],
    ['DELETE', '/collections/short/documents/none', undefined, 404],
    ['DELETE', '/collections/nowhere', undefined, 404],
    ['POST', '/analytics', { from: 'then' }, 400],
  ])('%s %s with %j is %i', async (method, path, body, status) => {
    expect((await send(method, path, body)).status).toBe(status);
  });

  test('setup says that nothing is to be set up', async () => {
    const { body } = await send('POST', '/setup', {});
    expect(body).toMatchObject({ success: true } as never);
    expect(String(body.message)).toContain('Nothing is to be set up');
  });
});

test('kill -9 in the middle of an addition leaves all of it or nothing, and what was acknowledged is there', async () => {
  const many = (from: number) =>
    Array.from({ length: 400 }, (_, i) => ({
      id: `doc-${from + i}`,
      content: `fact ${from + i} of the almanac`,
    }));
  await send('POST', '/collections', { name: 'almanac' });
  let acknowledged = 0;
  for (const delay of [5, 20, 45]) {
    const answers = send('POST', '/collections/almanac/documents', { documents: many(acknowledged) }).then(
      ({ status }) => status,
      () => 0,
    );
    await Bun.sleep(delay);
    await daemon.kill9();
    const status = await answers;
    daemon = await startDaemon({ dataDir: daemon.dataDir, apiKey: daemon.apiKey, env: env() });
    const { status: there, body } = await send('GET', '/collections/almanac');
    expect(there).toBe(200);
    const { documentCount = 0 } = (body as { collection?: { documentCount?: number } }).collection ?? {};
    expect([acknowledged, acknowledged + 400]).toContain(documentCount);
    if (status === 200) expect(documentCount).toBe(acknowledged + 400);
    acknowledged = documentCount;
  }
  const added = await send('POST', '/collections/almanac/documents', { documents: many(acknowledged) });
  expect(added.status).toBe(200);
  const last = `fact ${acknowledged + 399}`;
  const found = await send('POST', '/collections/almanac/query', { query: last, topK: 1 });
  expect(found.body.results?.[0]?.chunkText).toBe(`${last} of the almanac`);
}, 60_000);

describe('svc memory', () => {
  test('makes a collection, adds files and texts, finds them and removes them', async () => {
    writeFileSync(join(dir, 'one.md'), 'The harbour master is called Ines.');
    writeFileSync(join(dir, 'two.md'), 'Ships wait at anchor for the tide.');
    const made = await svc(['collection', 'create', 'port', '--model', 'emb/words']);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^col_\w+\n$/) });
    const added = await svc(['add', 'port', 'one.md', 'two.md', '--meta', 'kind=file']);
    expect(added).toMatchObject({ code: 0, stdout: 'one.md\ntwo.md\n' });
    expect((await svc(['add', 'port', '-', '--id', 'log'], 'The crane is broken.')).stdout).toBe('log\n');
    const found = await svc(['query', 'port', 'who', 'is', 'harbour', 'master', '--top', '1']);
    expect(found.stdout).toMatch(/^0\.\d{3}\tone\.md\t0\tThe harbour master is called Ines\.\n$/);
    const json = await svc(['query', 'port', 'crane', 'broken', '--filter', 'kind=file', '--json']);
    expect(
      JSON.parse(json.stdout)
        .map(({ documentId }: { documentId: string }) => documentId)
        .sort(),
    ).toEqual(['one.md', 'two.md']);
    expect((await svc(['collection', 'list'])).stdout).toContain('port\t3\temb/words\t96\tcosine');
    expect((await svc(['collection', 'show', 'port'])).stdout).toContain('documents\t3');
    expect((await svc(['rm', 'port', 'one.md'])).code).toBe(0);
    expect((await svc(['rm', 'port', 'one.md'])).code).toBe(5);
    expect((await svc(['stats'])).stdout).toMatch(/^20\d\d-[^\t]+\t\d+\t\d+\t\d+\t\d+\t[\d.]+\n/);
    expect((await svc(['collection', 'rm', 'port'])).code).toBe(0);
    expect((await svc(['query', 'port', 'crane'])).code).toBe(5);
  });

  test('says what is wrong with how it is called', async () => {
    expect((await svc(['add', 'port'])).code).toBe(2);
    expect((await svc(['add', 'port', 'missing.md'])).stderr).toContain('missing.md');
    expect((await svc(['query', 'port', 'x', '--min-score', '3'])).code).toBe(2);
  });
});
