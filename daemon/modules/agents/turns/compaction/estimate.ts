import type { ChatMessage } from '../../../gateway/index.ts';

const CHARACTERS_A_TOKEN = 4;
/** What stands around a message: its role and its bounds. */
const MESSAGE_TOKENS = 4;
/** An image, a sound, a file: what it takes does not follow from its bytes. */
const PART_TOKENS = 1_000;
/** How far a guess may be corrected: dense scripts take a token a character, long words less than a guess says. */
const SCALE = { least: 0.5, most: 4 } as const;

/** Tokens of a message, guessed from its characters. */
export function estimateMessage({ content, tool_calls, provider_content }: ChatMessage): number {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  let [characters, tokens] = [0, MESSAGE_TOKENS];
  for (const { type, text } of parts) {
    if (type === 'text' || typeof text === 'string') characters += text?.length ?? 0;
    else tokens += PART_TOKENS;
  }
  for (const { function: called } of tool_calls ?? [])
    characters += (called?.name.length ?? 0) + (called?.arguments.length ?? 0);
  if (provider_content) characters += JSON.stringify(provider_content).length;
  return tokens + estimateText(characters);
}

/** Tokens of so many characters; for definitions of tools, the length of their JSON. */
export function estimateText(characters: number): number {
  return Math.ceil(characters / CHARACTERS_A_TOKEN);
}

/** By what guesses have to be multiplied, when so many tokens were really taken by what had been guessed; 1 without a figure. */
export function scaleOf(taken: number, guessed: number): number {
  if (taken <= 0 || guessed <= 0) return 1;
  return Math.min(Math.max(taken / guessed, SCALE.least), SCALE.most);
}
