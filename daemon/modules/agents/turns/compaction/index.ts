export type { HeldMessage } from './blocks.ts';
export { estimateMessage, estimateText } from './estimate.ts';
export { type CompactionPlan, type Conversation, compacted, type Level, planCompaction } from './plan.ts';
export { type Summary, type SummaryWish, summarise } from './summarise.ts';
