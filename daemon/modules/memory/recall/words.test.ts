import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { indexed, termsOf } from './words.ts';

test.each([
  ['What is E1234?', ['"what"', '"is"', '"e1234"']],
  ['the THE the', ['"the"']],
  ['東京都 map', ['"東 京"', '"京 都"', '"map"']],
  ['水', ['"水"']],
  ['a* OR "b" NEAR(c) -d', ['"a"', '"or"', '"b"', '"near"', '"c"', '"d"']],
  ['… !?', []],
])('%j is looked for by %j', (query, terms) => expect(termsOf(query)).toEqual([...terms]));

test('whatever is asked is a query that the index takes', () => {
  const db = new Database(':memory:');
  db.run("CREATE VIRTUAL TABLE w USING fts5(text, tokenize='porter unicode61 remove_diacritics 2')");
  const insert = db.query('INSERT INTO w (text) VALUES (?)');
  const match = db.query('SELECT count(*) AS n FROM w WHERE w MATCH ?');
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      insert.run(indexed(text));
      for (const term of termsOf(text)) expect(() => match.get(term)).not.toThrow();
    }),
    { numRuns: 300 },
  );
  db.close();
});
