import type { TarEntry } from '../tar.ts';
import { endOfArchive, padding, writeHeader } from '../tar-writer.ts';

/** An entry of an archive for tests: what is not said is ordinary. */
export type Wanted = Partial<TarEntry> & { readonly path: string; readonly content?: string | Uint8Array };

/** An archive of these entries, exactly as they are told, however wrong. */
export function makeTar(entries: readonly Wanted[]): Uint8Array {
  const parts = entries.flatMap(({ content = '', ...entry }) => {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const kind = entry.kind ?? 'file';
    const mode = kind === 'directory' ? 0o755 : 0o644;
    const header = writeHeader({
      link: '',
      mode,
      uid: 0,
      gid: 0,
      mtime: 0,
      size: bytes.length,
      ...entry,
      kind,
    });
    return [header, bytes, padding(bytes.length)];
  });
  return Buffer.concat([...parts, endOfArchive()]);
}

/** Changes the type of the first entry of an archive, and its checksum with it. */
export function withType(tar: Uint8Array, type: string): Uint8Array {
  const copy = tar.slice();
  copy[156] = type.charCodeAt(0);
  const header = copy.subarray(0, 512);
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
  return copy;
}

/** `sha256:...` of bytes. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}`;
}

/** Bytes as a stream, in pieces that fit no header. */
export async function* pieces(bytes: Uint8Array, length = 700): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}
