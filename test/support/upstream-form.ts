/** One part of a form, as an upstream sees it. */
export interface FormSeen {
  readonly field: string;
  /** Of a plain field. */
  readonly text?: string;
  /** Of a file. */
  readonly name?: string;
  readonly type?: string;
  readonly size?: number;
}

/** A request that a fake refuses with 400, naming a field. */
export class FakeRequestError extends Error {
  constructor(
    message: string,
    readonly param: string,
  ) {
    super(message);
  }
}

/** Reads a form with the platform's own reader, which takes no other framing than the standard's. */
export async function fieldsOf(request: Request) {
  const form = await request.formData();
  const texts: Record<string, string> = {};
  const files: Array<{ field: string; name: string; type: string; bytes: Uint8Array }> = [];
  const list: FormSeen[] = [];
  for (const [field, value] of form.entries()) {
    if (typeof value === 'string') {
      texts[field] = field in texts ? `${texts[field]},${value}` : value;
      list.push({ field, text: value });
    } else {
      const bytes = new Uint8Array(await (value as File).arrayBuffer());
      const { name, type } = value as File;
      files.push({ field, name, type, bytes });
      list.push({ field, name, type, size: bytes.length });
    }
  }
  if (texts.model === undefined) throw new FakeRequestError('you must provide a model parameter', 'model');
  return { texts, files, list };
}
