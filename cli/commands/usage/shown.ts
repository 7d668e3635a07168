/** US dollars as people read them: `$12.34`, `$0.0021`; a dash when the price is not known. */
export function usd(amount: number | undefined): string {
  if (amount === undefined) return '-';
  if (amount === 0) return '$0';
  if (amount >= 1) return `$${amount.toFixed(2)}`;
  return `$${amount.toFixed(6).replace(/0+$/, '')}`;
}

const STEPS = [
  { size: 1e9, unit: 'G' },
  { size: 1e6, unit: 'M' },
  { size: 1e3, unit: 'k' },
] as const;

/** A count as people read it: `950`, `12.3k`, `4.5M`. */
export function short(count: string | undefined): string {
  const value = Number(count ?? 0);
  const step = STEPS.find(({ size }) => value >= size);
  return step ? `${(value / step.size).toFixed(1)}${step.unit}` : String(value);
}

/** Milliseconds as people read them: `12 ms`, `1.4 s`; empty when there are none. */
export function took(ms: number | undefined): string {
  if (ms === undefined) return '';
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
