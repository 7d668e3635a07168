import type { Violation } from '../pipeline/stages.ts';
import type { Guardrail } from './guardrail.ts';
import { JAILBREAKS, phrasesIn, plainly } from './phrases.ts';
import { pattern, spansIn, Turn } from './windows.ts';
import { wordsIn } from './words.ts';

/** Phrases by which a model shows that it was talked out of its instructions. */
export const jailbreakDetection: Guardrail = {
  name: 'jailbreak_detection',
  direction: 'output',
  isOn: ({ outputGuardrails }) => outputGuardrails.jailbreakDetection.enabled,
  async look(subject, { outputGuardrails: { jailbreakDetection: own } }) {
    const phrases = [...JAILBREAKS, ...own.keywords.map(plainly).filter(Boolean)];
    const turn = new Turn();
    const found = new Set<string>();
    for (const { text } of wordsIn(subject))
      for (const phrase of await phrasesIn(text, phrases, turn)) found.add(phrase);
    const violations = [...found].map(
      (match): Violation => ({ guardrail: this.name, match, severity: 'medium', action: own.action }),
    );
    return { subject, violations };
  },
};

/** Code that runs other code, or programs (behaviour: Guardrails, code-execution patterns). */
const EXECUTIONS = [
  pattern('os.system', /\bos\.system\b/g),
  pattern('subprocess', /\b(?:import|from) {1,4}subprocess\b|\bsubprocess\.\w/g),
  ...['exec', 'eval', 'system', 'shell_exec', 'passthru', 'proc_open'].map((name) =>
    pattern(name, new RegExp(`(?<![\\w.])${name}[ \\t]{0,4}\\(`, 'gi')),
  ),
];

/** Calls in an answer that would run something, were somebody to run the answer. */
export const codeExecution: Guardrail = {
  name: 'code_execution',
  direction: 'output',
  isOn: ({ outputGuardrails }) => outputGuardrails.codeExecution.enabled,
  async look(subject, { outputGuardrails: { codeExecution: own } }) {
    const turn = new Turn();
    const found = new Set<string>();
    for (const { text } of wordsIn(subject))
      for (const { kind } of await spansIn(text, EXECUTIONS, turn)) found.add(kind);
    const violations = [...found].map(
      (match): Violation => ({ guardrail: this.name, match, severity: 'high', action: own.action }),
    );
    return { subject, violations };
  },
};
