import type { GeminiGrounding } from './wire.ts';

/**
 * The pages that a text stands on, as this family cites them; undefined without any. The provider counts in bytes of
 * UTF-8, callers in characters.
 */
export function annotationsOf(grounding: GeminiGrounding | undefined, text: string): unknown[] | undefined {
  if (!grounding?.groundingSupports?.length) return undefined;
  const pages = grounding.groundingChunks ?? [];
  const bytes = Buffer.from(text);
  const annotations = grounding.groundingSupports.flatMap(({ segment, groundingChunkIndices = [] }) => {
    const start_index = bytes.subarray(0, segment?.startIndex ?? 0).toString().length;
    const end_index = bytes.subarray(0, segment?.endIndex ?? bytes.length).toString().length;
    return groundingChunkIndices.flatMap((index) => {
      const { uri, title = '' } = pages[index]?.web ?? {};
      return uri ? [{ type: 'url_citation', url_citation: { url: uri, title, start_index, end_index } }] : [];
    });
  });
  return annotations.length > 0 ? annotations : undefined;
}
