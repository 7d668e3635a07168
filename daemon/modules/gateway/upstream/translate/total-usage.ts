import { usageObject } from '../../wire/usage-object.ts';
import type { RawAnswer } from '../adapter.ts';
import { answerHeaders } from './answer.ts';
import type { TextAnswer } from './bearer-json.ts';

/** Embeddings of a provider that reports `total_tokens` alone: as they are, with `prompt_tokens` beside it. */
export function withPromptTokens({ headers, text }: TextAnswer): RawAnswer {
  const shown = answerHeaders(headers, 'application/json');
  const found = usageObject(text);
  const total = found?.value.prompt_tokens ?? found?.value.total_tokens;
  if (!found || typeof total !== 'number') return { headers: shown, body: text };
  const usage = JSON.stringify({ prompt_tokens: total, ...found.value });
  const body = text.slice(0, found.start) + usage + text.slice(found.end);
  return { headers: shown, body, usage: { input: total, output: 0 } };
}
