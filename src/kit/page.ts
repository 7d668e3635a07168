/** A part of a list. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

/** The part that was asked for; 50 entries when nothing was said, 500 at most. */
export function pageOf(query: { readonly limit?: number; readonly offset?: number }): Page {
  return {
    limit: Math.min(query.limit && query.limit > 0 ? query.limit : DEFAULT_LIMIT, MAX_LIMIT),
    offset: Math.max(query.offset ?? 0, 0),
  };
}
