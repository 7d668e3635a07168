import { fail } from '../../../../../src/errors/app-error.ts';
import { MIB } from '../../../../../src/kit/bytes.ts';

/** Bytes of an answer that are read, after decompression. */
export const MOST_BODY_BYTES = 5 * MIB;

/** What `Content-Encoding` may say, and what the platform calls it. */
const FORMATS: Readonly<Record<string, string>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'brotli',
  zstd: 'zstd',
};

/** The bytes of an answer, decompressed, up to a limit, and whether there is more. */
export class Body {
  isCut = false;

  constructor(
    private readonly response: Response,
    private readonly most = MOST_BODY_BYTES,
  ) {}

  /** Errors: failed_precondition when it is compressed in another way, or badly. */
  async *bytes(): AsyncGenerator<Uint8Array> {
    const stream = decompressed(this.response);
    let left = this.most;
    for await (const part of stream) {
      this.isCut = part.length > left;
      const taken = part.subarray(0, left);
      left -= taken.length;
      if (taken.length > 0) yield taken;
      if (this.isCut) return;
    }
  }

  /** All of it, as text. */
  async text(charset: string): Promise<string> {
    let text = '';
    for await (const part of decoded(this.bytes(), charset)) text += part;
    return text;
  }
}

/** Text of bytes in an encoding; unknown encodings are read as UTF-8. */
export async function* decoded(bytes: AsyncIterable<Uint8Array>, charset: string): AsyncGenerator<string> {
  const decoder = decoderOf(charset);
  for await (const part of bytes) {
    const text = decoder.decode(part, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

async function* decompressed({ headers, body }: Response): AsyncGenerator<Uint8Array> {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  const source = body ?? new Blob([]).stream();
  if (encoding === '' || encoding === 'identity') {
    yield* source;
    return;
  }
  const format = FORMATS[encoding];
  if (!format) throw fail('failed_precondition', { message: `It is encoded as ${encoding}.` });
  const stream = source.pipeThrough(new DecompressionStream(format as CompressionFormat));
  yield* stream as ReadableStream<Uint8Array>;
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset as 'utf-8');
  } catch {
    return new TextDecoder();
  }
}
