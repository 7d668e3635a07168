import { MEMORY_SCOPES, MEMORY_TYPES } from '../../../../src/api/agents/memories.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import type { NewMemory } from './face.ts';
import { LIMITS } from './limits.ts';

/** What a memory says of which fact it is: words without spaces, joined by dots or the like. */
const FACT_KEY = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._:/@-]*$/u;
const USUAL_CONFIDENCE = 1;

/** Checks what is to be remembered. Errors: invalid_argument naming the field. */
export function checkMemory(memory: NewMemory): void {
  checkOneOf('memoryType', memory.type, MEMORY_TYPES);
  checkOneOf('scope', memory.scope, MEMORY_SCOPES);
  checkContent(memory.content);
  checkFactKey(memory.factKey ?? '');
  checkConfidence(memory.confidence ?? USUAL_CONFIDENCE);
}

/** Errors: invalid_argument naming `content`. */
export function checkContent(content: string): void {
  if (content.trim() === '') throw invalid({ field: 'content', description: 'must not be empty' });
  if (content.length > LIMITS.contentLength)
    throw invalid({ field: 'content', description: `has at most ${LIMITS.contentLength} characters` });
}

/** Errors: invalid_argument naming `factKey`. */
export function checkFactKey(factKey: string): void {
  if (factKey === '') return;
  if (factKey.length > LIMITS.factKeyLength || !FACT_KEY.test(factKey))
    throw invalid({
      field: 'factKey',
      description: `has at most ${LIMITS.factKeyLength} letters, digits and . _ : / @ -, such as user.home_city`,
    });
}

/** Errors: invalid_argument naming `confidence`. */
export function checkConfidence(confidence: number): void {
  if (!(confidence >= 0 && confidence <= 1))
    throw invalid({ field: 'confidence', description: 'must be from 0 to 1' });
}

function checkOneOf(field: string, value: string, known: readonly string[]): void {
  if (!known.includes(value)) throw invalid({ field, description: `must be one of ${known.join(', ')}` });
}
