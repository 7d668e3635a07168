/** The kinds of picture that can be changed and varied. */
export type ImageKind = 'png' | 'jpeg' | 'webp';

/** What a picture is, by its first bytes; undefined when it is something else. */
export function imageKind(bytes: Uint8Array): ImageKind | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (head.startsWith('\xff\xd8\xff')) return 'jpeg';
  return head.startsWith('RIFF') && head.slice(8) === 'WEBP' ? 'webp' : undefined;
}
