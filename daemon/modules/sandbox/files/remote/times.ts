/** Two struct timespec of times in milliseconds since 1970 (utimensat(2)). */
export function timesOf(accessedAt: number, modifiedAt: number): Uint8Array {
  const bytes = new Uint8Array(32);
  const view = new DataView(bytes.buffer);
  for (const [i, time] of [accessedAt, modifiedAt].entries()) {
    const seconds = Math.floor(time / 1000);
    view.setBigInt64(16 * i, BigInt(seconds), true);
    view.setBigInt64(16 * i + 8, BigInt(Math.floor((time - seconds * 1000) * 1e6)), true);
  }
  return bytes;
}
