import { fail } from '../../../../../src/errors/app-error.ts';
import { redactText } from '../../../../../src/kit/redact.ts';
import { LIMITS } from '../limits.ts';

/** A fact that a model has found in what a user said. */
export interface Fact {
  readonly factKey: string;
  readonly content: string;
  readonly type: 'fact' | 'instruction';
  /** From 0 to 1. */
  readonly confidence: number;
}

const USUAL_CONFIDENCE = 0.7;
const LONGEST_ANSWER = 100_000;
const LONGEST_FACT = 1_000;

/**
 * The facts in a model's answer, at most 20; of several with one key the last. Words or a fence around the JSON do not matter, nor does
 * a list without its object; what is no fact, or holds a secret, is left out. Errors: upstream_failed when there is no JSON.
 */
export function readFacts(answer: string): Fact[] {
  const list = listIn(answer.slice(0, LONGEST_ANSWER));
  if (!list) throw fail('upstream_failed', { message: 'The model did not answer with a list of facts.' });
  const byKey = new Map<string, Fact>();
  for (const [i, one] of list.entries()) {
    const fact = factIn(one);
    if (fact) byKey.set(fact.factKey || `#${i}`, fact);
  }
  return [...byKey.values()].slice(0, LIMITS.factsATurn);
}

function listIn(answer: string): readonly unknown[] | undefined {
  for (const text of candidates(answer)) {
    const value = parsed(text);
    if (Array.isArray(value)) return value;
    if (isObject(value))
      for (const name of ['facts', 'memories']) {
        const list = value[name];
        if (Array.isArray(list)) return list;
      }
  }
  return undefined;
}

/** The whole, what stands in a fence, and what is between the outermost brackets. */
function* candidates(answer: string): Generator<string> {
  yield answer;
  const fenced = /```[\w-]*\s*\n([\s\S]*?)```/.exec(answer)?.[1];
  if (fenced !== undefined) yield fenced;
  const [object, list] = [answer.indexOf('{'), answer.indexOf('[')];
  if (object >= 0) yield answer.slice(object, answer.lastIndexOf('}') + 1);
  if (list >= 0 && (object < 0 || list < object)) yield answer.slice(list, answer.lastIndexOf(']') + 1);
}

function factIn(one: unknown): Fact | undefined {
  if (!isObject(one) || typeof one.content !== 'string') return undefined;
  const content = one.content.replace(/\s+/g, ' ').trim();
  if (content === '' || content.length > LONGEST_FACT || redactText(content) !== content) return undefined;
  return {
    content,
    factKey: keyIn(one.factKey ?? one.fact_key ?? one.key),
    type: one.type === 'instruction' ? 'instruction' : 'fact',
    confidence: confidenceIn(one.confidence),
  };
}

/** A key as svc has them: what models make of it is put right. */
function keyIn(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '_')
    .replace(/^[^\p{L}\p{N}]+|[._-]+$/gu, '')
    .slice(0, LIMITS.factKeyLength);
}

function confidenceIn(value: unknown): number {
  const number = typeof value === 'string' ? Number.parseFloat(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return USUAL_CONFIDENCE;
  return Math.min(1, Math.max(0, number));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
