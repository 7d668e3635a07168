import type { ProviderAccount } from '../../../providers/index.ts';

/** What an upstream takes in a chat completion beyond the words that the whole family shares. */
export interface Taste {
  /** The field that limits the answer. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  /** `cache_control`, on parts, tools and messages. */
  readonly marks: boolean;
  /** `reasoning_content` and `provider_content`, on messages of the assistant. */
  readonly thoughts: boolean;
  /** `thinking` and `top_k`, in the words of the Messages dialect. */
  readonly ownWords: boolean;
}

/** Providers of the chat-completions dialect that read marks of the cache. */
const READ_MARKS = ['openrouter'];
/** Those of it that take thoughts back. */
const TAKE_THOUGHTS = ['openrouter', 'deepseek', 'moonshot', 'vllm'];

/** The taste of an account. Those of the dialect itself may refuse fields that they do not know; adapters leave out what has no word. */
export function tasteOf({ name, dialect }: Pick<ProviderAccount, 'name' | 'dialect'>): Taste {
  const isFirst = name === 'openai' || dialect === 'azure';
  const isTranslated = dialect !== 'openai' && dialect !== 'azure';
  return {
    limit: isFirst || isTranslated ? 'max_completion_tokens' : 'max_tokens',
    marks: isTranslated || READ_MARKS.includes(name),
    thoughts: isTranslated || TAKE_THOUGHTS.includes(name),
    ownWords: isTranslated,
  };
}
