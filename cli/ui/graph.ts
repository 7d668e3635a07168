const EIGHTHS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;

/** A value, or nothing where none was measured. */
export type Value = number | undefined;

/** Values as one line of small columns, from 0 to `most`. A gap is a blank. */
export function sparkline(values: readonly Value[], most: number): string {
  return values.map((value) => (value === undefined ? ' ' : column(value / most, 1, 0))).join('');
}

/** A share from 0 to 1 as a bar of `width` columns. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(clamp(share) * width * 8);
  const full = Math.floor(eighths / 8);
  return `${'█'.repeat(full)}${PARTS[eighths % 8]}`.padEnd(width);
}

/** Values as columns over `height` lines, from 0 to `most`, the top line first. A gap is blank. */
export function graph(values: readonly Value[], most: number, height: number): string[] {
  return Array.from({ length: height }, (_, line) =>
    values
      .map((value) => (value === undefined ? ' ' : column(value / most, height, height - 1 - line)))
      .join(''),
  );
}

/** Brings values to `width` columns: each is the highest of those that fall into it. */
export function resample(values: readonly Value[], width: number): Value[] {
  if (values.length <= width) return [...values];
  return Array.from({ length: width }, (_, i) => {
    const part = values.slice(
      Math.floor((i * values.length) / width),
      Math.floor(((i + 1) * values.length) / width),
    );
    const known = part.filter((value) => value !== undefined);
    return known.length > 0 ? Math.max(...known) : undefined;
  });
}

/** One cell of a column that is `share` of `height` cells high; `floor` counts cells from the bottom. */
function column(share: number, height: number, floor: number): string {
  const eighths = Math.ceil(clamp(share) * height * 8) - floor * 8;
  if (eighths <= 0) return floor === 0 ? EIGHTHS[0] : ' ';
  return EIGHTHS[Math.min(eighths, 8) - 1] ?? ' ';
}

function clamp(share: number): number {
  return Number.isFinite(share) ? Math.min(Math.max(share, 0), 1) : 0;
}
