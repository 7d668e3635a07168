import { invalid } from '../../../../src/errors/app-error.ts';
import { STRATEGIES, type Strategy } from '../routing/chain.ts';

/** What a caller asks for one request, by headers. */
export interface Overrides {
  /** `x-svc-fallback: groq/llama-3.3-70b,openai/gpt-4o`: models to ask when the first fails. */
  readonly fallback: readonly string[];
  /** `x-svc-strategy`: how the chain of this request is tried. */
  readonly strategy?: Strategy;
  /** `x-svc-retries`: further tries of one provider; 0 to 5. */
  readonly retries?: number;
  /** `x-svc-timeout-ms`: longest time until the first content of an attempt; 1 to 600000. */
  readonly timeoutMs?: number;
}

const NONE: Overrides = { fallback: [] };
const MOST_FALLBACKS = 8;
const MOST_RETRIES = 5;
const LONGEST_TIMEOUT_MS = 600_000;

/** Reads the overrides of a request. Errors: invalid_argument naming the header. */
export function readOverrides(headers: Headers): Overrides {
  const [fallback, strategy, retries, timeout] = [
    headers.get('x-svc-fallback'),
    headers.get('x-svc-strategy'),
    headers.get('x-svc-retries'),
    headers.get('x-svc-timeout-ms'),
  ];
  if (fallback === null && strategy === null && retries === null && timeout === null) return NONE;
  return {
    fallback: readFallback(fallback ?? ''),
    strategy: strategy === null ? undefined : readStrategy(strategy),
    retries: readCount('x-svc-retries', retries, 0, MOST_RETRIES),
    timeoutMs: readCount('x-svc-timeout-ms', timeout, 1, LONGEST_TIMEOUT_MS),
  };
}

function readFallback(text: string): string[] {
  const models = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (models.length > MOST_FALLBACKS)
    throw invalid({ field: 'x-svc-fallback', description: `names at most ${MOST_FALLBACKS} models` });
  return models;
}

function readStrategy(text: string): Strategy {
  const found = STRATEGIES.find((strategy) => strategy === text.trim());
  if (found) return found;
  throw invalid({ field: 'x-svc-strategy', description: `is one of ${STRATEGIES.join(', ')}` });
}

function readCount(field: string, text: string | null, least: number, most: number): number | undefined {
  if (text === null) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text.trim()) && count >= least && count <= most) return count;
  throw invalid({ field, description: `is a whole number from ${least} to ${most}` });
}
