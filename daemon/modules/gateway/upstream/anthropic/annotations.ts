/** A source on the web, on the part of the text between two offsets, as chat completions name one. */
export interface Annotation {
  readonly type: 'url_citation';
  readonly url_citation: {
    readonly url: string;
    readonly title: string;
    readonly start_index: number;
    readonly end_index: number;
  };
}

/** The sources of a block of text that stands at these offsets. Those that are no page of the web have no word in chat completions. */
export function annotationsOf(citations: unknown, start: number, end: number): Annotation[] {
  if (!Array.isArray(citations)) return [];
  return citations.flatMap((one: { url?: unknown; title?: unknown } | null) =>
    typeof one?.url === 'string'
      ? [
          {
            type: 'url_citation' as const,
            url_citation: {
              url: one.url,
              title: typeof one.title === 'string' ? one.title : '',
              start_index: start,
              end_index: end,
            },
          },
        ]
      : [],
  );
}
