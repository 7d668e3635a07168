/** Lets everything else that is due have its turn: what reads many small files in one go would hold it up. */
export function otherWork(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
