import type { ModelCall } from '../pipeline/call.ts';
import { canonical, effective, keyOf, requestKey, type Scope } from './request-key.ts';

/** A request as what its user says last, and the rest of it. Requests may answer for each other only when the rest is the same. */
export interface Asked {
  /** A hash of everything but the text. */
  readonly context: string;
  readonly text: string;
}

/** Longer texts are found by the exact key alone. */
const MOST_CHARS = 8192;
const WHERE = ['messages', 'input', 'prompt'] as const;

interface Said {
  readonly role?: unknown;
  readonly content?: unknown;
}

/** Splits a request; undefined when its last word is not a text of the user's. */
export function askedOf(call: ModelCall, scope: Scope): Asked | undefined {
  const request = effective(call.request, call.surface);
  const where = WHERE.find((name) => request[name] !== undefined);
  const split = where && splitLast(request[where]);
  if (!where || !split || split.text.trim() === '' || split.text.length > MOST_CHARS) return undefined;
  const rest = { ...request, [where]: split.rest };
  const { proof } = requestKey({ ...call, request: rest as unknown as ModelCall['request'] }, scope);
  return { context: keyOf(`${proof}\n${canonical(factsIn(split.text))}`).proof, text: split.text };
}

function splitLast(value: unknown): { text: string; rest: unknown } | undefined {
  if (typeof value === 'string') return { text: value, rest: '' };
  const last: unknown = Array.isArray(value) ? value.at(-1) : undefined;
  if (typeof last !== 'object' || last === null || (last as Said).role !== 'user') return undefined;
  const split = splitContent((last as Said).content);
  const earlier = (value as readonly unknown[]).slice(0, -1);
  return split && { text: split.text, rest: [...earlier, { ...last, content: split.rest }] };
}

function splitContent(content: unknown): { text: string; rest: unknown } | undefined {
  if (typeof content === 'string') return { text: content, rest: '' };
  if (!Array.isArray(content)) return undefined;
  const texts: string[] = [];
  const rest = content.map((part: { text?: unknown }) => {
    if (typeof part?.text !== 'string') return part;
    texts.push(part.text);
    return { ...part, text: '' };
  });
  return texts.length > 0 ? { text: texts.join('\n'), rest } : undefined;
}

const FACTS = [
  /\d+(?:[.,]\d+)*/g,
  /\b(?:no|not|never|none|without|except|cannot)\b|n['’]t\b/gi,
  /(?<=[\p{L}\d,;:] )\p{Lu}[\p{L}\d]*/gu,
];

/**
 * What makes texts that look alike mean something else: numbers, negations, and names (words with a capital letter inside a sentence).
 * They have to be the same, whatever the likeness.
 */
export function factsIn(text: string): string[] {
  return FACTS.flatMap((fact) => [...text.matchAll(fact)].map(([word]) => word.toLowerCase()));
}
