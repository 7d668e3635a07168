import type { Violation } from '../pipeline/stages.ts';
import type { GuardrailSettings, PiiKind } from './config.ts';
import type { Guardrail, Subject } from './guardrail.ts';
import { PERSONAL } from './personal.ts';
import { INJECTIONS, phrasesIn, plainly } from './phrases.ts';
import { type Span, spansIn, Turn } from './windows.ts';
import { withWords, wordsIn } from './words.ts';

/** Who is trusted not to talk a model out of its instructions: they are whoever wrote those. */
const TRUSTED = new Set(['system', 'developer', 'assistant']);

/** Phrases that try to talk a model out of its instructions, in what users and tools say. */
export const promptInjection: Guardrail = {
  name: 'prompt_injection',
  direction: 'input',
  isOn: ({ inputGuardrails }) => inputGuardrails.promptInjection.enabled,
  async look(subject, { inputGuardrails: { promptInjection: own } }) {
    const phrases = [...INJECTIONS, ...own.keywords.map(plainly).filter(Boolean)];
    const turn = new Turn();
    const found = new Set<string>();
    for (const { text, role } of wordsIn(subject)) {
      if (TRUSTED.has(role)) continue;
      for (const phrase of await phrasesIn(text, phrases, turn)) found.add(phrase);
    }
    const violations = [...found].map(
      (match): Violation => ({ guardrail: this.name, match, severity: 'high', action: own.action }),
    );
    return { subject, violations };
  },
};

const SEVERITY: Readonly<Record<PiiKind, Violation['severity']>> = {
  ssn: 'high',
  creditCard: 'high',
  bankAccount: 'high',
  medicalRecord: 'high',
  email: 'medium',
  phone: 'medium',
  ipv4: 'low',
};

/** Personal data in anything that is said. */
export const piiDetection: Guardrail = {
  name: 'pii_detection',
  direction: 'input',
  isOn: ({ inputGuardrails }) => inputGuardrails.piiDetection.enabled,
  async look(subject, settings) {
    const actions = settings.inputGuardrails.piiDetection;
    const kinds = (Object.keys(PERSONAL) as PiiKind[]).filter((kind) => actions[kind] !== 'allow');
    const finders = kinds.map((kind) => PERSONAL[kind]);
    const turn = new Turn();
    const texts: string[] = [];
    const found = new Set<PiiKind>();
    for (const { text } of wordsIn(subject)) {
      const spans = await spansIn(text, finders, turn);
      for (const { kind } of spans) found.add(kind as PiiKind);
      texts.push(redacted(text, spans, settings));
    }
    const violations = kinds.flatMap((match) => (found.has(match) ? [violationOf(match, settings)] : []));
    const changes = violations.some(({ action }) => action === 'redact');
    return { subject: changes ? (withWords(subject, texts) as Subject) : subject, violations };
  },
};

function violationOf(match: PiiKind, { inputGuardrails }: GuardrailSettings): Violation {
  const action = inputGuardrails.piiDetection[match];
  return {
    guardrail: piiDetection.name,
    match,
    severity: SEVERITY[match],
    action: action === 'allow' ? 'flag' : action,
  };
}

function redacted(text: string, spans: readonly Span[], { inputGuardrails }: GuardrailSettings): string {
  const hidden = spans.filter(({ kind }) => inputGuardrails.piiDetection[kind as PiiKind] === 'redact');
  if (hidden.length === 0) return text;
  let at = 0;
  const pieces: string[] = [];
  for (const { start, end, kind } of hidden) {
    pieces.push(text.slice(at, start), `[REDACTED_${kind.replace(/[A-Z]/g, '_$&').toUpperCase()}]`);
    at = end;
  }
  return pieces.join('') + text.slice(at);
}
