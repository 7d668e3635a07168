/** Whether a value counts something: a number that is finite and not below 0. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}
