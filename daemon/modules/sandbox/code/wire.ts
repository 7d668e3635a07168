import type { CodeContextRow } from './tables.ts';

/** A context as it is answered (spec, the guide's sandbox code). */
export function toContext({ id, language }: CodeContextRow): { id: string; language: string } {
  return { id, language };
}
