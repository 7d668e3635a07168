import type { OwnCalls, Scores } from '../own-calls.ts';
import type { ModelCall } from '../pipeline/call.ts';
import type { Violation } from '../pipeline/stages.ts';
import type { GuardrailSettings, ModeratedSettings } from './config.ts';
import type { Guardrail, Subject } from './guardrail.ts';
import { wordsIn } from './words.ts';

/** What the moderation API is asked for at a time. */
const PIECE_CHARS = 16_000;
const PIECES = 32;
/** More than this is not looked at: a call has to end. */
const MOST_PIECES = 256;

type Category = keyof ModeratedSettings['categories'];

/** The categories of the API, by the part of their names before the slash. */
const CATEGORIES: Readonly<Record<string, Category>> = {
  hate: 'hate',
  harassment: 'harassment',
  'self-harm': 'selfHarm',
  sexual: 'sexual',
  violence: 'violence',
};

/** Guardrails that ask the moderation API, with the providers and on the budget of the caller. */
export function moderatedGuards(calls: Pick<OwnCalls, 'moderate'>): {
  readonly contentFiltering: Guardrail;
  readonly toxicity: Guardrail;
} {
  const guard = (
    name: string,
    direction: Guardrail['direction'],
    own: (settings: GuardrailSettings) => ModeratedSettings,
  ): Guardrail => ({
    name,
    direction,
    isOn: (settings) => own(settings).enabled,
    async look(subject, settings, call) {
      return { subject, violations: await moderate(name, own(settings), subject, call, calls) };
    },
  });
  return {
    contentFiltering: guard('content_filtering', 'input', (one) => one.inputGuardrails.contentFiltering),
    toxicity: guard('toxicity', 'output', (one) => one.outputGuardrails.toxicity),
  };
}

async function moderate(
  guardrail: string,
  settings: ModeratedSettings,
  subject: Subject,
  call: ModelCall,
  calls: Pick<OwnCalls, 'moderate'>,
): Promise<Violation[]> {
  const pieces = piecesOf(subject);
  const { action, onFailure, model } = settings;
  if (pieces.length > MOST_PIECES)
    return [{ guardrail, match: 'too_long', severity: 'high', action: onFailure }];
  const found = new Set<Category>();
  try {
    for (let from = 0; from < pieces.length; from += PIECES) {
      const scores = await calls.moderate(call, model, pieces.slice(from, from + PIECES));
      for (const one of scores) for (const category of over(one, settings)) found.add(category);
    }
  } catch (error) {
    if (call.signal.aborted) throw error;
    // What cannot be looked at is not let through, unless the tenant wants that.
    return [{ guardrail, match: 'unavailable', severity: 'high', action: onFailure }];
  }
  return [...found].map((match) => ({ guardrail, match, severity: 'high', action }));
}

function over(scores: Scores, { categories }: ModeratedSettings): Category[] {
  return Object.entries(scores).flatMap(([name, score]) => {
    const category = CATEGORIES[name.split('/')[0] ?? ''];
    if (!category) return [];
    const { enabled, threshold } = categories[category];
    return enabled && score >= threshold ? [category] : [];
  });
}

function piecesOf(subject: Subject): string[] {
  return wordsIn(subject).flatMap(({ text, role }) => {
    if (role === 'system' || role === 'developer' || text.trim() === '') return [];
    const count = Math.ceil(text.length / PIECE_CHARS);
    return Array.from({ length: count }, (_, at) => text.slice(at * PIECE_CHARS, (at + 1) * PIECE_CHARS));
  });
}
