import type { Usage } from '../wire/usage.ts';
import type { ModelCall } from './call.ts';
import type { Settlement } from './settlement.ts';
import type { AnswerCache, Guardrails } from './stages.ts';

/** A whole answer as it goes out. */
export interface WholeAnswer {
  readonly contentType: string;
  readonly body: string;
  readonly usage: Usage | undefined;
}

/** Keeps a whole answer, where the tenant and the request want that. Streams are never kept. */
export function keepAnswer(
  cache: AnswerCache,
  call: ModelCall,
  answer: WholeAnswer,
  { model }: Settlement,
): void {
  const mode = cache.modeOf(call);
  if (model === undefined || call.request.stream || (mode !== 'use' && mode !== 'refresh')) return;
  cache.keep(call, { ...answer, model });
}

/** Looks at the text of an answer before anybody sees it. Errors: guardrail_blocked, in the books. */
export async function checkAnswer(
  guardrails: Guardrails,
  call: ModelCall,
  text: string,
  settlement: Settlement,
): Promise<void> {
  try {
    settlement.flagged(await guardrails.checkOutput(call, text));
  } catch (error) {
    throw settlement.failed(error);
  }
}
