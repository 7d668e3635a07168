/** A part of a list. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** How many entries a list has when nothing was said, and how many at most. */
interface PageSize {
  readonly usual: number;
  readonly most: number;
}

const USUAL_SIZE: PageSize = { usual: 50, most: 500 };

/** The part that was asked for; 50 entries when nothing was said, 500 at most, where a list has no size of its own. */
export function pageOf(
  query: { readonly limit?: number; readonly offset?: number },
  { usual, most }: PageSize = USUAL_SIZE,
): Page {
  return {
    limit: Math.min(query.limit && query.limit > 0 ? query.limit : usual, most),
    offset: Math.max(query.offset ?? 0, 0),
  };
}
