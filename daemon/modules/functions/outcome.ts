/** How a call of a function ended. */
export interface Outcome {
  readonly status: 'success' | 'error' | 'timeout';
  /** What it answered: any JSON. */
  readonly result?: unknown;
  /** Why it failed, for whoever called. */
  readonly error?: string;
  /** What isolated code printed. */
  readonly logs?: string;
  /** How often it was tried. */
  readonly attempts: number;
}

/** The largest result, in bytes of JSON or text. */
export const MOST_RESULT = 1024 * 1024;

/** An outcome that is a failure. */
export function failed(error: string, attempts: number, status: 'error' | 'timeout' = 'error'): Outcome {
  return { status, error, attempts };
}
