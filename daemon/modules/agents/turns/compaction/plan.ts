import { type Block, blocksOf, type HeldMessage, tokensIn } from './blocks.ts';
import { cutOf } from './cut.ts';
import { scaleOf } from './estimate.ts';

/** How full the context has to be, and what is done then (spec, Compaction). */
export const LEVELS = { early: 0.8, late: 0.85, cut: 0.95 } as const;

/** Where compaction sets in. */
export type Level = keyof typeof LEVELS;

/** Of the messages that are no instructions, how many of the oldest are summarised. */
const SHARE = { early: 0.3, late: 0.6 } as const;
/** A summary has to be worth a call of a model. */
const WORTH = 2;

/** A conversation as it would be sent. */
export interface Conversation {
  /** In the order of `seq`. */
  readonly messages: readonly HeldMessage[];
  /** Tokens that the model takes, prompt and answer together; 0 when that is not known. */
  readonly contextTokens: number;
  /** Whether it may be summarised. The cut protects in any case. */
  readonly enabled: boolean;
  /** Guessed tokens of what is sent beside the messages, such as definitions of tools. */
  readonly fixedTokens?: number;
  /**
   * Tokens that the last call of the model took, prompt and answer together, by its own count: guesses are corrected by it. 0 when
   * nothing was asked since the conversation was compacted.
   */
  readonly takenTokens?: number;
  /** The model has refused this very conversation as too long: it is cut, whatever was guessed, and also when `contextTokens` is 0. */
  readonly isRefused?: boolean;
  /** A level at which a summary has failed: it is not tried again before the next one. */
  readonly failedAt?: Level;
}

/** What is to be done about a conversation that is too long. */
export interface CompactionPlan {
  readonly kind: 'summarise' | 'cut';
  readonly level: Level;
  /** How full the context is; 1 is full. */
  readonly fill: number;
  /** The messages that are sent no more, in their order. */
  readonly removed: readonly HeldMessage[];
  /** The place that a summary takes: that of the first of them. */
  readonly at: number;
}

/** The most tokens that a summary may have in a context of this size. */
export function mostSummaryTokens(contextTokens: number): number {
  return Math.max(64, Math.min(2_048, Math.floor(contextTokens / 20)));
}

/**
 * What to do before the model is asked; undefined when the conversation may be sent as it is, or when nothing can be done. The
 * answer follows from the arguments alone: after a crash the same rows give the same plan.
 */
export function planCompaction(conversation: Conversation): CompactionPlan | undefined {
  const { messages, fixedTokens = 0, takenTokens = 0, isRefused = false } = conversation;
  const guessed = fixedTokens + tokensIn(messages);
  const contextTokens = conversation.contextTokens || (isRefused ? guessed : 0);
  if (contextTokens <= 0) return undefined;
  const counted = scaleOf(takenTokens, fixedTokens + tokensIn(answered(messages)));
  const scale = isRefused ? Math.max(counted, contextTokens / guessed) : counted;
  const fillOf = (tokens: number) => (scale * (fixedTokens + tokens)) / contextTokens;
  const fill = fillOf(tokensIn(messages));
  const level = levelOf(fill);
  if (level === undefined) return undefined;
  if (level === 'cut') return planned('cut', level, fill, cutOf(messages, fillOf));
  if (!conversation.enabled || hasFailed(conversation.failedAt, level)) return undefined;
  const removed = oldest(blocksOf(messages), SHARE[level]);
  const isWorth = scale * tokensIn(removed) >= WORTH * mostSummaryTokens(contextTokens);
  return isWorth ? planned('summarise', level, fill, removed) : undefined;
}

/** The conversation after a plan was carried out; `summary` is what a model has made of what was removed. */
export function compacted(
  messages: readonly HeldMessage[],
  { removed, at }: CompactionPlan,
  summary?: Pick<HeldMessage, 'message' | 'tokens'>,
): HeldMessage[] {
  const gone = new Set(removed.map(({ seq }) => seq));
  const kept = messages.filter(({ seq }) => !gone.has(seq));
  if (!summary) return kept;
  return [...kept, { ...summary, seq: at, isSummary: true }].sort((a, b) => a.seq - b.seq);
}

function planned(
  kind: CompactionPlan['kind'],
  level: Level,
  fill: number,
  removed: readonly HeldMessage[],
): CompactionPlan | undefined {
  const [first] = removed;
  return first && { kind, level, fill, removed, at: first.seq };
}

/** What the last call of the model was about: everything up to its answer. */
function answered(messages: readonly HeldMessage[]): readonly HeldMessage[] {
  return messages.slice(0, messages.findLastIndex(({ message }) => message.role === 'assistant') + 1);
}

function levelOf(fill: number): Level | undefined {
  if (fill >= LEVELS.cut) return 'cut';
  if (fill >= LEVELS.late) return 'late';
  return fill >= LEVELS.early ? 'early' : undefined;
}

function hasFailed(failedAt: Level | undefined, level: Level): boolean {
  return failedAt !== undefined && LEVELS[failedAt] >= LEVELS[level];
}

/** A share of the messages from the beginning. What the user has said last, what is newest and what is open stays word for word. */
function oldest(blocks: readonly Block[], share: number): HeldMessage[] {
  const wanted = Math.ceil(share * blocks.reduce((sum, { messages }) => sum + messages.length, 0));
  const request = blocks.findLast(({ kind }) => kind === 'user');
  const removed: HeldMessage[] = [];
  for (const block of blocks.slice(0, -1)) {
    if (removed.length >= wanted) break;
    if (block !== request && !block.isOpen) removed.push(...block.messages);
  }
  return removed;
}
