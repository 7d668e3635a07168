import { fail, invalid } from '../../../../../src/errors/app-error.ts';
import { boundaryOf, type Part, readMultipart } from '../../../../http/multipart/multipart.ts';
import { Form, type FormPart } from '../../wire/form.ts';
import { type Kept, keptInMemory, Spool } from '../../wire/spool.ts';

/** A form that has arrived. Its files are gone when it is disposed of. */
export interface ReceivedForm {
  readonly form: Form;
  dispose(): void;
}

/** Where and how much is taken. */
export interface FormLimits {
  /** Of the whole body, in bytes. */
  readonly bodyLimit: number;
  /** Where files go that are too large for memory. */
  readonly directory: string;
}

const MOST_PARTS = 128;
/** Of all plain fields together. */
const MOST_FIELD_BYTES = 512 * 1024;

/**
 * Reads a multipart form to its end: a model may be named after the file that it is to read, and a request may be tried at more
 * than one upstream. Errors: invalid_argument, malformed_body, body_too_large, cancelled.
 */
export async function readForm(
  request: Request,
  { bodyLimit, directory }: FormLimits,
): Promise<ReceivedForm> {
  const boundary = boundaryOf(request.headers.get('content-type') ?? '');
  const spool = new Spool(directory);
  const keeper = new Keeper(spool);
  const dispose = () => void spool.dispose().catch(() => undefined);
  try {
    const parts: FormPart[] = [];
    for await (const part of readMultipart(request.body ?? emptyBody(), boundary, bodyLimit)) {
      if (parts.length === MOST_PARTS)
        throw fail('malformed_body', { message: `A form has at most ${MOST_PARTS} parts.` });
      parts.push(await keeper.keep(part));
    }
    return { form: new Form(parts), dispose };
  } catch (error) {
    dispose();
    throw request.signal.aborted ? fail('cancelled') : error;
  }
}

/** Plain fields stay in memory, where they are read; files may go to the disk. */
class Keeper {
  private fieldBytes = 0;

  constructor(private readonly spool: Spool) {}

  async keep({ name, fileName, contentType, content }: Part): Promise<FormPart> {
    const kept = fileName === undefined ? await this.field(name, content) : await this.spool.keep(content);
    return { name, fileName, contentType, content: kept };
  }

  private async field(field: string, content: AsyncIterable<Uint8Array>): Promise<Kept> {
    const pieces: Uint8Array[] = [];
    for await (const piece of content) {
      this.fieldBytes += piece.byteLength;
      if (this.fieldBytes > MOST_FIELD_BYTES) throw invalid({ field, description: 'is too long' });
      pieces.push(Uint8Array.from(piece));
    }
    return keptInMemory(Buffer.concat(pieces));
  }
}

function emptyBody(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}
