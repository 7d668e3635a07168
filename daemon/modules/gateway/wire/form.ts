import { randomBytes, randomUUID } from 'node:crypto';
import type { Kept } from './spool.ts';
import { streamOf } from './stream-of.ts';

/** One part of a form, in its place. */
export interface FormPart {
  readonly name: string;
  /** Undefined for a plain field. */
  readonly fileName?: string;
  readonly contentType?: string;
  readonly content: Kept;
}

/** A form as the body of a request. Its length is known when it is no stream. */
export interface FormBody {
  readonly contentType: string;
  readonly body: Uint8Array | ReadableStream<Uint8Array>;
}

/** A multipart/form-data body (RFC 7578) that can be sent more than once, each time with other fields. */
export class Form {
  readonly #parts: readonly FormPart[];
  readonly #id = randomUUID();

  constructor(parts: readonly FormPart[]) {
    this.#parts = parts;
  }

  /** Stands for it where requests are compared: no form is ever taken for another one. */
  toJSON(): string {
    return `form ${this.#id}`;
  }

  /** Every part, in the order in which they came. */
  get parts(): readonly FormPart[] {
    return this.#parts;
  }

  /**
   * The body, with these values in place of its own fields of the same names; what it has no field for comes first. It is a
   * stream when some of it is on disk.
   */
  encode(values: Readonly<Record<string, string>>): FormBody {
    const boundary = `svc-${randomBytes(18).toString('hex')}`;
    const sections = this.sections(values, boundary);
    const contentType = `multipart/form-data; boundary=${boundary}`;
    if (this.#parts.some(({ content }) => content.isOnDisk))
      return { contentType, body: streamOf(piecesOf(sections)) };
    const pieces = sections.map((section) => (section instanceof Uint8Array ? section : section.head));
    return { contentType, body: Buffer.concat(pieces) };
  }

  private sections(values: Readonly<Record<string, string>>, boundary: string): (Uint8Array | Kept)[] {
    const own = new Set(this.#parts.map(({ name }) => name));
    const given = Object.entries(values).filter(([name]) => !own.has(name));
    const sections: (Uint8Array | Kept)[] = given.map(([name, value]) => field(boundary, name, value));
    const seen = new Set<string>();
    for (const part of this.#parts) {
      const value = Object.hasOwn(values, part.name) ? values[part.name] : undefined;
      if (value === undefined || part.fileName !== undefined)
        sections.push(headOf(boundary, part), part.content, Buffer.from('\r\n'));
      else if (!seen.has(part.name)) sections.push(field(boundary, part.name, value));
      seen.add(part.name);
    }
    return [...sections, Buffer.from(`--${boundary}--\r\n`)];
  }
}

async function* piecesOf(sections: readonly (Uint8Array | Kept)[]): AsyncGenerator<Uint8Array> {
  for (const section of sections) {
    if (section instanceof Uint8Array) yield section;
    else yield* section.pieces();
  }
}

function field(boundary: string, name: string, value: string): Uint8Array {
  return Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
  );
}

function headOf(boundary: string, { name, fileName, contentType }: FormPart): Uint8Array {
  const file = fileName === undefined ? '' : `; filename="${quoted(fileName)}"`;
  const type = contentType && /^[\x20-\x7e]+$/.test(contentType) ? `\r\nContent-Type: ${contentType}` : '';
  return Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}${type}\r\n\r\n`,
  );
}

/** As browsers write names into a form (WHATWG HTML, multipart/form-data encoding algorithm). */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}
