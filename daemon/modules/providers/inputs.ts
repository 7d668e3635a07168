import { invalid } from '../../../src/errors/app-error.ts';

/** How many providers a tenant may set up. */
export const MOST_PROVIDERS = 100;
/** How many keys a provider may have. */
export const MOST_KEYS = 100;
const MOST_MODELS = 1000;
const MOST_MODEL_CHARS = 256;
const MOST_NAME_CHARS = 64;
const MOST_KEY_CHARS = 16_384;
const MOST_WEIGHT = 1_000_000;
/** One of them is in the JSON of every credential that some dialect takes. */
const CREDENTIAL_FIELDS = [
  'private_key',
  'refresh_token',
  'Credentials',
  'SecretAccessKey',
  'secretAccessKey',
];

/** Checks a list of models; names that stand twice are taken once. Errors: invalid_argument naming the field. */
export function checkModels(given: unknown, field: string): string[] {
  const isList = Array.isArray(given) && given.length <= MOST_MODELS;
  if (!isList) throw invalid({ field, description: `must be a list of at most ${MOST_MODELS} names` });
  for (const [index, name] of given.entries())
    if (typeof name !== 'string' || !isLine(name, MOST_MODEL_CHARS))
      throw invalid({ field: `${field}.${index}`, description: 'must be the name of a model' });
  return [...new Set(given as string[])];
}

/**
 * Checks a key: one line of visible characters, or JSON: a service account of Google or an access key of AWS. Errors:
 * invalid_argument naming the field; the key is not repeated.
 */
export function checkKeyText(text: string, field: string): void {
  if (text.length > MOST_KEY_CHARS)
    throw invalid({ field, description: `must have at most ${MOST_KEY_CHARS} characters` });
  if (text.startsWith('{')) checkCredential(text, field);
  else if (!/^[\x21-\x7e]+$/.test(text))
    throw invalid({ field, description: 'must be one line of visible ASCII characters without blanks' });
}

/** Checks the name of a key. Errors: invalid_argument naming the field. */
export function checkKeyName(name: string, field: string): void {
  if (!isLine(name, MOST_NAME_CHARS))
    throw invalid({ field, description: `must be one line of at most ${MOST_NAME_CHARS} characters` });
}

/** Checks the weight of a key. Errors: invalid_argument naming the field. */
export function checkWeight(weight: unknown, field: string): number {
  if (typeof weight === 'number' && Number.isInteger(weight) && weight >= 1 && weight <= MOST_WEIGHT)
    return weight;
  throw invalid({ field, description: `must be a whole number from 1 to ${MOST_WEIGHT}` });
}

function checkCredential(text: string, field: string): void {
  const value = parsed(text);
  if (typeof value === 'object' && value !== null && CREDENTIAL_FIELDS.some((name) => name in value)) return;
  throw invalid({
    field,
    description:
      'is JSON, but no service account (private_key), no login of gcloud (refresh_token) and no access key (SecretAccessKey)',
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isLine(text: string, most: number): boolean {
  return text.trim() === text && text !== '' && text.length <= most && !/\p{Cc}/u.test(text);
}
