const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;

/** A byte count in the form people read: `1.4 MB`. Steps are 1024. */
export function formatBytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= KIB && unit < UNITS.length - 1) {
    value /= KIB;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
