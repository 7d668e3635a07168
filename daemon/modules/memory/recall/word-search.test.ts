import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openTestApp } from '../../../testing/app.ts';
import { CollectionStore } from '../collections/store.ts';
import type { CollectionRow } from '../tables.ts';
import { RecallStore } from './recall-store.ts';
import { WordSearch } from './word-search.ts';

const CHUNKS = 2600;
const app = openTestApp({ now: () => 0 }, {});
const store = new RecallStore(app.db);
let collection: CollectionRow;

beforeAll(() => {
  collection = new CollectionStore(app.db).insert({
    id: 'col_1',
    tenant: 'org_a',
    name: 'c',
    description: '',
    embeddingModel: '',
    dimension: 0,
    asksDimension: false,
    distance: 'cosine',
    metadata: {},
    documentCount: CHUNKS,
    chunkCount: CHUNKS,
    state: 'live',
    createdAt: 0,
    updatedAt: 0,
  });
  const insert = app.db.raw.query(`INSERT INTO memory_words_${collection.seq} (rowid, text) VALUES (?, ?)`);
  app.db.transaction(() => {
    for (let i = 1; i <= CHUNKS; i++)
      insert.run(
        i,
        `the ${i % 2 ? 'of' : ''} of${i % 5 ? '' : ' city'} number${i} ${i === 77 ? 'needles' : ''}`,
      );
  });
});

afterAll(() => app.db.close());

test('rare words decide, however many common ones stand beside them', async () => {
  const found = await new WordSearch(store).find(collection, 'the number of the needle', {}, 10);
  expect(found.map(({ seq }) => seq)).toEqual([77]);
});

test('where all words are common, chunks have all of them', async () => {
  const found = await new WordSearch(store).find(collection, 'the of', {}, 10);
  expect(found).toHaveLength(10);
});

test('a word that nobody has finds nothing', async () => {
  expect(await new WordSearch(store).find(collection, 'absent', {}, 10)).toEqual([]);
  expect(await new WordSearch(store).find(collection, '?', {}, 10)).toEqual([]);
});

test('words are counted once until the collection has changed by a tenth', async () => {
  let counts = 0;
  const words = new WordSearch({
    match: () => [],
    has: () => false,
    countUpTo: () => {
      counts++;
      return 1;
    },
  });
  const grown = (chunkCount: number) => ({ ...collection, chunkCount });
  for (const chunks of [1000, 1000, 1090]) await words.find(grown(chunks), 'a b', {}, 1);
  expect(counts).toBe(2);
  await words.find(grown(1200), 'a b', {}, 1);
  expect(counts).toBe(4);
});

test('the share of the words that a chunk has', () => {
  const words = new WordSearch(store);
  expect(words.coverage(collection, 77, 'needle city')).toBe(0.5);
  expect(words.coverage(collection, 77, 'needle the')).toBe(1);
  expect(words.coverage(collection, 77, '')).toBe(0);
});
