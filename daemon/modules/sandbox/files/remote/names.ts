/** Bytes of a name that are no UTF-8 become these code units, which no text has: 0x80 is U+DC80. */
const ESCAPE = 0xdc00;

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * A name of the kernel as text. Names are bytes: those that are no UTF-8 are kept as lone surrogates
 * (as in PEP 383), so that `encodeName` gives the same bytes again.
 */
export function decodeName(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return decodeParts(bytes);
  }
}

/** The bytes of a name. Lone surrogates that `decodeName` does not make become U+FFFD. */
export function encodeName(name: string): Uint8Array {
  if (name.isWellFormed()) return encoder.encode(name);
  const parts = [...name].map((part) => {
    const code = part.charCodeAt(0);
    return part.length === 1 && code >= ESCAPE + 0x80 && code <= ESCAPE + 0xff
      ? Uint8Array.of(code - ESCAPE)
      : encoder.encode(part);
  });
  return Buffer.concat(parts);
}

function decodeParts(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes[at] ?? 0);
    try {
      if (length === 0 || at + length > bytes.length) throw new TypeError('no UTF-8');
      text += strict.decode(bytes.subarray(at, at + length));
      at += length;
    } catch {
      text += String.fromCharCode(ESCAPE + (bytes[at] ?? 0));
      at++;
    }
  }
  return text;
}

/** Bytes of the sequence that this byte begins; 0 when it begins none. */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}
