import { type Block, blocksOf, type HeldMessage, tokensIn } from './blocks.ts';

/** Messages of the user that stay, with what belongs to them. */
const KEPT_REQUESTS = 20;
/** The cut leaves less than this of the context, or else goes on to what is below the second figure. */
const ENOUGH = { first: 0.95, further: 0.8 } as const;

/**
 * What goes when there is no time for a summary: all but the instructions, the summaries and the last 20 messages of the user
 * with what belongs to them. Where that is too long as well, fewer of them stay, then only the last one with the newest calls.
 */
export function cutOf(
  messages: readonly HeldMessage[],
  fillOf: (tokens: number) => number,
): readonly HeldMessage[] {
  const blocks = blocksOf(messages);
  const request = blocks.findLastIndex(({ kind }) => kind === 'user');
  const places = new Set(placesOf(blocks, request));
  let left = tokensIn(messages);
  let enough: number = ENOUGH.first;
  const gone: Block[] = [];
  for (const [at, block] of blocks.entries()) {
    if (places.has(at)) {
      if (fillOf(left) < enough) return messagesIn(gone);
      enough = ENOUGH.further;
    }
    if (at === request || block.kind === 'summary' || block.isOpen) continue;
    gone.push(block);
    left -= block.tokens;
  }
  // Nothing else helps: the summaries go as well.
  return messagesIn(blocks.filter(({ isOpen }, at) => !isOpen && at !== request && at < blocks.length - 1));
}

/** Where what is kept may begin: with each of the last requests, then with each answer inside the last one. */
function placesOf(blocks: readonly Block[], request: number): number[] {
  const all = [...blocks.keys()];
  const requests = all.filter((at) => blocks[at]?.kind === 'user').slice(-KEPT_REQUESTS);
  return [...requests, ...all.filter((at) => at > request + 1)];
}

function messagesIn(blocks: readonly Block[]): HeldMessage[] {
  return blocks.flatMap(({ messages }) => [...messages]);
}
