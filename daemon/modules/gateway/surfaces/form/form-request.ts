import type { TSchema } from '../../../../../src/api/schema.ts';
import { invalid } from '../../../../../src/errors/app-error.ts';
import { type Validator, validator } from '../../../../http/validate.ts';
import type { RelayRequest } from '../../upstream/adapter.ts';
import type { Form, FormPart } from '../../wire/form.ts';

/** A request that came as a form: its plain fields as they were written, and the form itself. */
export type FormRequest = RelayRequest & { readonly form: Form };

/** What a form of one operation holds. */
export interface FormShape {
  /** The parts as the contract declares them. */
  readonly schema: TSchema;
  /** Parts that are files, and whether they have to be there. */
  readonly files: Readonly<Record<string, 'required' | 'optional'>>;
  /** The model when none is named; without it a model has to be. */
  readonly defaultModel?: string;
}

/** Makes the reader of one operation's forms. What it answers is checked. Errors: invalid_argument naming each wrong part. */
export function formReader(shape: FormShape): (form: Form) => FormRequest {
  const check = validator(withoutFiles(shape), 'compat');
  return (form) => {
    for (const [name, need] of Object.entries(shape.files)) checkFile(form, name, need);
    checkFields(form, shape, check);
    const fields = textsOf(form);
    const { model = shape.defaultModel } = fields;
    if (!model) throw invalid({ field: 'model', description: 'is required' });
    return { ...fields, model, stream: fields.stream === 'true' || fields.stream === '1', form };
  };
}

/** The schema of the plain fields. */
function withoutFiles({ schema, files }: FormShape): TSchema {
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => !(name in files));
  const required = ((schema.required ?? []) as string[]).filter((name) => !(name in files));
  return { ...schema, properties: Object.fromEntries(properties), required };
}

function checkFile(form: Form, name: string, need: 'required' | 'optional'): void {
  const parts = form.parts.filter((part) => baseOf(part) === name);
  if (parts.length === 0 && need === 'optional') return;
  if (parts.length === 0) throw invalid({ field: name, description: 'is required' });
  if (parts.some(({ fileName }) => fileName === undefined))
    throw invalid({ field: name, description: 'must be a file, with a file name' });
  if (parts.some(({ content }) => content.size === 0))
    throw invalid({ field: name, description: 'is empty' });
}

function checkFields(form: Form, { schema, files, defaultModel }: FormShape, check: Validator): void {
  const values: Record<string, unknown> = defaultModel === undefined ? {} : { model: defaultModel };
  for (const [name, parts] of Map.groupBy(form.parts, baseOf)) {
    const property: TSchema | undefined = schema.properties?.[name];
    if (!property || name in files) continue;
    const given = parts.map((part) => fromText(property, textOf(part)));
    values[name] = property.type === 'array' ? given : given[0];
  }
  check.check(values);
}

/** `timestamp_granularities[]` and `image[]` are how lists travel in forms. */
function baseOf({ name }: FormPart): string {
  return name.endsWith('[]') ? name.slice(0, -2) : name;
}

/** The fields that stand once and are no list; what stands more than once goes on as it came. */
function textsOf(form: Form): Record<string, string> {
  const plain = form.parts.filter((part) => part.fileName === undefined && !part.name.endsWith('[]'));
  const once = [...Map.groupBy(plain, ({ name }) => name)].filter(([, parts]) => parts.length === 1);
  return Object.fromEntries(once.flatMap(([name, [part]]) => (part ? [[name, textOf(part)] as const] : [])));
}

function textOf({ content }: FormPart): string {
  return Buffer.from(content.head.buffer, content.head.byteOffset, content.head.byteLength).toString();
}

function fromText(schema: TSchema, text: string): unknown {
  const types = [schema, ...((schema.anyOf as TSchema[] | undefined) ?? [])].map(({ type }) => type);
  if (types.includes('integer') || types.includes('number'))
    return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (!types.includes('boolean')) return text;
  return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : text;
}
