import type { CodeCache, Coded } from './code-cache.ts';
import { queryCode } from './codes.ts';
import { Nearest, type Ranked } from './nearest.ts';
import { turn } from './turn.ts';

/** Products that are summed up before others have their turn: some milliseconds. */
const PRODUCTS_A_TURN = 3_000_000;

/** Whether chunks of a document may be found. */
export type Admits = (document: number) => boolean;

/** The `most` chunks that are nearest to a vector by codes: about right, to be measured exactly afterwards. Nearest first. */
export async function nearestByCodes(
  cache: CodeCache,
  collection: Coded,
  vector: Float32Array,
  most: number,
  admits: Admits,
): Promise<Ranked[]> {
  const query = queryCode(vector);
  const nearest = new Nearest(most);
  const rowsATurn = Math.max(1, Math.floor(PRODUCTS_A_TURN / collection.dimension));
  let rows = 0;
  for await (const page of cache.pages(collection)) {
    for (let from = 0; from < page.count; ) {
      const to = Math.min(page.count, from + rowsATurn - rows);
      page.scan(query, from, to, (at, nearness) => {
        if (nearness <= nearest.bar) return;
        const document = page.documents[at] ?? 0;
        if (document !== 0 && admits(document)) nearest.add({ seq: page.seqs[at] ?? 0, document, nearness });
      });
      rows += to - from;
      from = to;
      if (rows < rowsATurn) continue;
      rows = 0;
      await turn();
    }
  }
  return nearest.sorted();
}
