import { type FieldViolation, invalid } from '../../../../src/errors/app-error.ts';

/** The languages that a context can have. */
export const LANGUAGES = ['python', 'javascript', 'typescript', 'bash'] as const;

/** The language of a context. */
export type Language = (typeof LANGUAGES)[number];

/** What code is written in that names neither a context nor a language. */
export const DEFAULT_LANGUAGE: Language = 'python';

/** Reads the name of a language. Errors: invalid_argument naming the field. */
export function languageOf(name: string, field: string): Language {
  const language = LANGUAGES.find((one) => one === name);
  if (!language) throw invalid(unknownLanguage(field));
  return language;
}

function unknownLanguage(field: string): FieldViolation {
  return { field, description: `must be one of ${LANGUAGES.join(', ')}` };
}
