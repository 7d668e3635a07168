/** A size of a benchmark from the environment: a whole number that is not negative. Errors: anything else. */
export function sizeFromEnv(name: string, size: number): number {
  const text = process.env[name] ?? '';
  if (text === '') return size;
  if (!/^\d+$/.test(text)) throw new Error(`${name} must be a whole number, not ${JSON.stringify(text)}`);
  return Number(text);
}
