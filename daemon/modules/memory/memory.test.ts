import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { HOUR_MS } from '../../../src/kit/time.ts';
import { type MemoryScene, openMemory } from './testing.ts';

let scene: MemoryScene;

beforeEach(async () => {
  scene = openMemory();
  await scene.memory.start?.();
});

afterEach(async () => {
  await scene.memory.stop?.();
  scene.app.db.close();
});

interface Result {
  readonly documentId: string;
  readonly chunkText: string;
  readonly chunkIndex: number;
  readonly score: number;
  readonly metadata: object;
  readonly foundBy: string;
}

const make = (name: string, more: object = {}, tenant?: string) =>
  scene.call('CreateCollection', { body: { name, ...more } }, tenant);
const withVectors = { embeddingModel: 'words' };
const add = (
  collectionName: string,
  documents: object[],
  more: object = {},
): Promise<{ documentIds: string[]; chunksCreated: number }> =>
  scene.call('AddDocuments', { params: { collectionName }, body: { documents, ...more } });
const ask = async (collectionName: string, query: string, more: object = {}): Promise<Result[]> =>
  (
    (await scene.call('QueryCollection', { params: { collectionName }, body: { query, ...more } })) as {
      results: Result[];
    }
  ).results;
const get = async (name: string, tenant?: string) =>
  (
    (await scene.call('GetCollection', { params: { name } }, tenant)) as {
      collection: { documentCount: number; embeddingDimension: number };
    }
  ).collection;
const rows = (table: string) =>
  scene.app.db.raw.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n;

const FACTS = [
  { id: 'paris', content: 'Paris is the capital of France', metadata: { kind: 'city' }, source: 'atlas' },
  { id: 'bern', content: 'Bern is the capital of Switzerland', metadata: { kind: 'city', small: 'yes' } },
  { id: 'bread', content: 'Bread is made of flour, water and salt', metadata: { kind: 'food' } },
];

describe('a collection', () => {
  test('has the dimension of its model, and the defaults', async () => {
    expect(await make('facts', withVectors)).toMatchObject({
      collection: { name: 'facts', embeddingDimension: 64, distanceMetric: 'cosine', documentCount: 0 },
    } as never);
    expect(await make('short', { ...withVectors, embeddingDimension: 16 })).toMatchObject({
      collection: { embeddingDimension: 16 },
    } as never);
    expect(await make('words-only')).toMatchObject({
      collection: { embeddingModel: '', embeddingDimension: 0 },
    } as never);
  });

  test('has a name that is its own in its tenant, and another tenant has neither it nor what is in it', async () => {
    await make('facts');
    await add('facts', FACTS);
    expect(make('facts')).rejects.toThrow('exists already');
    expect(get('facts', 'org_b')).rejects.toThrow('no collection "facts"');
    await make('facts', {}, 'org_b');
    expect((await get('facts', 'org_b')).documentCount).toBe(0);
    const asked = { params: { collectionName: 'facts' }, body: { query: 'capital' } };
    expect(await scene.call('QueryCollection', asked, 'org_b')).toEqual({ results: [] } as never);
    const deleted = { params: { collectionName: 'facts', documentId: 'paris' } };
    expect(scene.call('DeleteDocument', deleted, 'org_b')).rejects.toThrow('no document "paris"');
    expect((await get('facts')).documentCount).toBe(3);
  });

  test.each([
    ['name', { name: '' }],
    ['name', { name: 'a/b' }],
    ['distanceMetric', { name: 'a', distanceMetric: 'manhattan' }],
    ['embeddingModel', { name: 'a', embeddingDimension: 3 }],
    ['embeddingDimension', { name: 'a', embeddingModel: 'words', embeddingDimension: 5000 }],
    ['metadata', { name: 'a', metadata: { '': 'x' } }],
  ])('with a wrong %s is refused, and none is made', async (field, wanted) => {
    const error = await scene.call('CreateCollection', { body: wanted }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_argument', violations: [{ field }] });
    expect(rows('memory_collections')).toBe(0);
  });

  test('of a model that nobody has is not made', async () => {
    expect(make('a', { embeddingModel: 'nobody' })).rejects.toThrow('no model');
    expect(rows('memory_collections')).toBe(0);
  });

  test('is removed with everything in it, and its name is free at once', async () => {
    await make('facts', withVectors);
    await add('facts', FACTS);
    await scene.call('DeleteCollection', { params: { name: 'facts' } });
    expect(get('facts')).rejects.toThrow('no collection');
    await make('facts');
    expect(await ask('facts', 'capital')).toEqual([]);
    await scene.memory.settled();
    for (const table of ['memory_documents', 'memory_chunks', 'memory_labels']) expect(rows(table)).toBe(0);
    expect(rows('memory_collections')).toBe(1);
    expect(rows("sqlite_master WHERE name LIKE 'memory_words_%' AND sql LIKE '%VIRTUAL%'")).toBe(1);
  });
});

describe('documents', () => {
  test('are cut into chunks of the size that is asked for', async () => {
    await make('facts', withVectors);
    const content = Array.from({ length: 6 }, (_, i) => `${`part${i} `.repeat(10).trim()}.`).join('\n\n');
    const added = await add('facts', [{ content }], { chunkSize: 80 });
    expect(added.chunksCreated).toBe(6);
    const [found] = await ask('facts', 'part3');
    expect(found).toMatchObject({ documentId: added.documentIds[0], chunkIndex: 3 });
    expect(found?.chunkText).toContain('part3 part3.');
    expect(found?.chunkText.length).toBeLessThanOrEqual(80);
  });

  test('that are sent again are there once, and nothing is embedded twice', async () => {
    await make('facts', withVectors);
    const first = await add('facts', [{ content: 'one' }, { content: 'two', metadata: { a: 'b' } }]);
    expect(first.chunksCreated).toBe(2);
    const calls = scene.embedded.length;
    const again = await add('facts', [{ content: 'one' }, { content: 'two', metadata: { a: 'b' } }]);
    expect(again).toEqual({ documentIds: first.documentIds, chunksCreated: 0 });
    expect(scene.embedded.length).toBe(calls);
    expect((await get('facts')).documentCount).toBe(2);
  });

  test('take the place of those with their id', async () => {
    await make('facts', withVectors);
    await add('facts', FACTS);
    await add('facts', [{ id: 'paris', content: 'Lyon is known for silk' }]);
    expect((await get('facts')).documentCount).toBe(3);
    expect((await ask('facts', 'Lyon silk'))[0]?.documentId).toBe('paris');
    const all = await ask('facts', 'capital of France', { metadataFilter: {} });
    expect(all.map(({ chunkText }) => chunkText)).not.toContain('Paris is the capital of France');
    await scene.memory.settled();
    expect(rows('memory_chunks')).toBe(3);
  });

  test('are added all or none: one that cannot be embedded leaves nothing behind', async () => {
    await make('facts', withVectors);
    const many = Array.from({ length: 200 }, (_, i) => ({ content: `fact number ${i}` }));
    expect(add('facts', [...many, { content: 'poison' }])).rejects.toThrow('poisoned');
    await scene.memory.settled();
    expect((await get('facts')).documentCount).toBe(0);
    expect(rows('memory_documents')).toBe(0);
    expect(await ask('facts', 'fact number 7')).toEqual([]);
  });

  test('of a collection that is removed meanwhile are not added to the next one of its name', async () => {
    await make('facts', withVectors);
    const many = Array.from({ length: 100 }, (_, i) => ({ content: `fact number ${i}` }));
    const adding = add('facts', many).catch((error: unknown) => error);
    await scene.call('DeleteCollection', { params: { name: 'facts' } });
    await make('facts', withVectors);
    expect(await adding).toMatchObject({ code: 'not_found' });
    expect((await get('facts')).documentCount).toBe(0);
    await scene.memory.settled();
    expect(rows('memory_chunks')).toBe(0);
  });

  test('are embedded many in a call', async () => {
    await make('facts', withVectors);
    scene.embedded.length = 0;
    await add(
      'facts',
      Array.from({ length: 150 }, (_, i) => ({ content: `fact ${i}` })),
    );
    expect(scene.embedded.map(({ length }) => length)).toEqual([64, 64, 22]);
  });

  test('are removed with all their chunks', async () => {
    await make('facts', withVectors);
    await add('facts', FACTS);
    const deleted = { params: { collectionName: 'facts', documentId: 'paris' } };
    await scene.call('DeleteDocument', deleted);
    expect((await ask('facts', 'Paris capital France')).map(({ documentId }) => documentId)).not.toContain(
      'paris',
    );
    expect((await get('facts')).documentCount).toBe(2);
    expect(scene.call('DeleteDocument', deleted)).rejects.toThrow('no document "paris"');
    await scene.memory.settled();
    expect(rows('memory_chunks')).toBe(2);
  });

  test.each([
    ['documents', []],
    ['documents.0.content', [{ content: ' \n ' }]],
    ['documents.0.id', [{ id: 'a b', content: 'x' }]],
    [
      'documents.1.id',
      [
        { id: 'a', content: 'x' },
        { id: 'a', content: 'y' },
      ],
    ],
    ['documents.0.metadata.long', [{ content: 'x', metadata: { long: 'x'.repeat(2000) } }]],
    ['documents', Array.from({ length: 1001 }, () => ({ content: 'x' }))],
    ['documents', [{ content: 'word '.repeat(300_000) }]],
  ])('with wrong %s are refused', async (field, documents) => {
    await make('facts');
    const error = await add('facts', documents, { chunkSize: 100 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_argument', violations: [{ field }] });
    expect(rows('memory_documents')).toBe(0);
  });
});

describe('recall', () => {
  test.each(['cosine', 'l2', 'dot'])(
    'by %s answers the nearest first, with scores from 0 to 1',
    async (distanceMetric) => {
      await make('facts', { ...withVectors, distanceMetric });
      await add('facts', FACTS);
      const results = await ask('facts', 'the capital of France');
      expect(results[0]).toMatchObject({ documentId: 'paris', metadata: { kind: 'city' }, foundBy: 'both' });
      const scores = results.map(({ score }) => score);
      expect(scores).toEqual([...scores].sort((a, b) => b - a));
      for (const score of scores) {
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
      }
    },
  );

  test('keeps to topK, to minScore and to the metadata', async () => {
    await make('facts', withVectors);
    await add('facts', FACTS);
    expect(await ask('facts', 'capital', { topK: 1 })).toHaveLength(1);
    expect(
      (await ask('facts', 'Paris is the capital of France', { minScore: 0.99 })).map(
        ({ documentId }) => documentId,
      ),
    ).toEqual(['paris']);
    expect(
      (await ask('facts', 'capital', { metadataFilter: { kind: 'food' } })).map(
        ({ documentId }) => documentId,
      ),
    ).toEqual(['bread']);
    expect(
      (await ask('facts', 'capital', { metadataFilter: { kind: 'city', small: 'yes' } })).map(
        ({ documentId }) => documentId,
      ),
    ).toEqual(['bern']);
    expect(await ask('facts', 'capital', { metadataFilter: { kind: 'sea' } })).toEqual([]);
  });

  test('without a model is by words, and the score is the share of them that is there', async () => {
    await make('facts');
    await add('facts', FACTS);
    expect(scene.embedded).toEqual([]);
    const [first, ...others] = await ask('facts', 'capital France');
    expect(first).toMatchObject({ documentId: 'paris', score: 1, foundBy: 'words' });
    expect(others.map(({ documentId }) => documentId)).toEqual(['bern']);
    expect((await ask('facts', 'France galaxy quasar nebula'))[0]?.score).toBe(0.25);
    expect(await ask('facts', 'galaxy')).toEqual([]);
    expect(
      (await ask('facts', 'capital', { metadataFilter: { small: 'yes' } })).map(
        ({ documentId }) => documentId,
      ),
    ).toEqual(['bern']);
    expect(ask('facts', 'capital', { mode: 'vector' })).rejects.toThrow('no embedding model');
  });

  test('finds by its words what no vector would find', async () => {
    await make('facts', withVectors);
    const noise = Array.from({ length: 300 }, (_, i) => ({
      content: `error error code code seen twice ${i}`,
    }));
    await add('facts', [
      ...noise,
      { id: 'needle', content: `E4711 ${'nothing else of this is alike '.repeat(10)}` },
    ]);
    expect((await ask('facts', 'E4711', { topK: 2 })).map(({ documentId }) => documentId)).toContain(
      'needle',
    );
    expect(
      (await ask('facts', 'E4711', { topK: 2, mode: 'vector' })).map(({ documentId }) => documentId),
    ).not.toContain('needle');
  });

  test('of a collection that is removed meanwhile finds nothing, or says that it is gone', async () => {
    for (const rounds of [0, 1, 2, 3, 5, 8]) {
      await make('facts', withVectors);
      await add('facts', FACTS);
      const asking = ask('facts', 'capital of France').catch((error: unknown) => error);
      for (let i = 0; i < rounds; i++) await Bun.sleep(0);
      await scene.call('DeleteCollection', { params: { name: 'facts' } });
      const answer = await asking;
      if (!Array.isArray(answer)) expect(answer).toMatchObject({ code: 'not_found' });
    }
  });

  test.each([
    ['query', { query: '' }],
    ['topK', { query: 'a', topK: 101 }],
  ])('with a wrong %s is refused', async (field, body) => {
    await make('facts');
    const error = await scene
      .call('QueryCollection', { params: { collectionName: 'facts' }, body })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_argument', violations: [{ field }] });
  });
});

describe('analytics', () => {
  test('count what was done, by the hour and by collection', async () => {
    await make('facts');
    await make('other');
    await add('facts', FACTS);
    await ask('facts', 'capital');
    scene.clock.ms += HOUR_MS;
    await ask('other', 'capital');
    await ask('facts', 'bread');
    await ask('nowhere', 'bread').catch(() => undefined);
    const report: Record<string, never> = await scene.call('GetMemoryAnalytics', { body: {} });
    expect(report).toMatchObject({
      totalRequests: 5,
      totalErrors: 1,
      topCollections: [
        { collectionName: 'facts', requestCount: 3 },
        { collectionName: 'other', requestCount: 1 },
      ],
    } as never);
    const buckets = report.buckets as unknown as Array<Record<string, number | string>>;
    expect(buckets.length).toBeLessThanOrEqual(26);
    expect(buckets.slice(-2)).toMatchObject([
      { storeCount: 1, queryCount: 1, errorCount: 0 },
      { storeCount: 0, queryCount: 3, errorCount: 1 },
    ]);
    const other = await scene.call('GetMemoryAnalytics', { body: {} }, 'org_b');
    expect(other).toMatchObject({ totalRequests: 0, topCollections: [] } as never);
  });

  test.each([
    ['from', { from: 'yesterday' }],
    ['to', { to: 'tomorrow' }],
    ['from', { from: '2026-03-02T00:00:00Z', to: '2026-03-01T00:00:00Z' }],
    ['from', { from: '2020-03-02T00:00:00Z' }],
  ])('with a wrong %s are refused', async (field, body) => {
    const error = await scene.call('GetMemoryAnalytics', { body }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_argument', violations: [{ field }] });
  });
});
