import type { Input } from '../../../../../src/api/endpoint.ts';
import type { imageVariations } from '../../../../../src/api/gateway/variations.ts';
import { invalid } from '../../../../../src/errors/app-error.ts';
import { Form, type FormPart } from '../../wire/form.ts';
import { keptInMemory } from '../../wire/spool.ts';
import type { FormRequest } from '../form/form-request.ts';
import { imageKind } from '../form/image-kind.ts';
import { DEFAULT_VARIATION_MODEL } from './surface.ts';

/** A native request for variations as the form that providers take. `metadata` stays here. Errors: invalid_argument naming `image`. */
export function nativeVariationRequest(
  body: Input<typeof imageVariations.ImageVariation>['body'],
): FormRequest {
  const { image, model = DEFAULT_VARIATION_MODEL, n, responseFormat, size, user } = body;
  if (!image) throw invalid({ field: 'image', description: 'is required' });
  const bytes = Buffer.from(image, 'base64');
  const kind = imageKind(bytes);
  if (!kind) throw invalid({ field: 'image', description: 'must be a PNG, JPEG or WebP image as base64' });
  const fields = { model, ...given({ n, response_format: responseFormat, size, user }) };
  const file: FormPart = {
    name: 'image',
    fileName: `image.${kind}`,
    contentType: `image/${kind}`,
    content: keptInMemory(bytes),
  };
  const plain = Object.entries(fields).map(([name, value]) => ({
    name,
    content: keptInMemory(Buffer.from(value)),
  }));
  return { ...fields, form: new Form([...plain, file]) };
}

function given(values: Readonly<Record<string, string | number | undefined>>): Record<string, string> {
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
}
