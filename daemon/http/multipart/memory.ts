/**
 * Gives memory back that nobody looks at any more, now and not when the collector comes round: a large content would fill
 * as much again as the daemon has before that. What is only a part of a buffer stays as it is.
 */
export function release(bytes: Uint8Array | undefined): void {
  const buffer = bytes?.buffer;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes?.byteLength) buffer.transfer(0);
}
