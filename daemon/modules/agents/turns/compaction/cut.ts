import { type Block, blocksOf, type HeldMessage, isSystem, tokensIn } from './blocks.ts';

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
  const always = tokensIn(messages.filter(isSystem));
  let enough: number = ENOUGH.first;
  for (const kept of candidates(blocks)) {
    if (fillOf(always + tokensIn(kept)) < enough) return without(blocks, kept);
    enough = ENOUGH.further;
  }
  return without(blocks, least(blocks));
}

/** What may be kept, from most to least. */
function* candidates(blocks: readonly Block[]): Iterable<Block[]> {
  const requests = [...blocks.keys()].filter((at) => blocks[at]?.kind === 'user');
  const last = requests.at(-1) ?? -1;
  for (const from of requests.slice(-KEPT_REQUESTS)) yield keepFrom(blocks, from, last);
  for (let from = last + 2; from < blocks.length; from++) yield keepFrom(blocks, from, last);
}

function keepFrom(blocks: readonly Block[], from: number, request: number): Block[] {
  return blocks.filter(
    ({ kind, isOpen }, at) => at >= from || at === request || kind === 'summary' || isOpen,
  );
}

/** The last request, the newest block, and what is open. */
function least(blocks: readonly Block[]): Block[] {
  const request = blocks.findLast(({ kind }) => kind === 'user');
  return blocks.filter((block, at) => block === request || at === blocks.length - 1 || block.isOpen);
}

function without(blocks: readonly Block[], kept: readonly Block[]): HeldMessage[] {
  const stays = new Set(kept);
  return blocks.filter((block) => !stays.has(block)).flatMap(({ messages }) => messages);
}
