import { endpoint, type Group } from '../endpoint.ts';
import { base64, int32, int64, model, oneOf, struct, t } from '../schema.ts';

const MB = 1024 * 1024;

/** An image, as base64 or as an address. */
export const ImageData = model('ImageData', {
  b64Json: t.String(),
  url: t.String(),
  revisedPrompt: t.String(),
});

const here = { spec: 'gateway', tag: 'Images' } as const;

/** Variations of images, in the native format. */
export const imageVariations = {
  ImageVariation: endpoint({
    ...here,
    id: 'ImageVariation',
    method: 'POST',
    path: '/v1/images/variations',
    summary: 'Make variations of an image',
    body: model('ImageVariationRequest', {
      image: base64(),
      model: t.String(),
      n: int32({ minimum: 1, maximum: 10, description: '1 when absent.' }),
      responseFormat: oneOf('url', 'b64_json'),
      size: t.String(),
      user: t.String(),
      metadata: struct(),
    }),
    response: model('ImageVariationResponse', {
      created: int64(),
      data: t.Array(ImageData),
      model: t.String(),
    }),
    bodyLimit: 16 * MB,
    access: 'member',
  }),
} satisfies Group;
