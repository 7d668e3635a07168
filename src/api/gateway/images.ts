import { endpoint, type Group } from '../endpoint.ts';
import { binary, nullable, oneOf, open, t } from '../schema.ts';

const MB = 1024 * 1024;

const output = {
  background: nullable(oneOf('auto', 'transparent', 'opaque')),
  model: nullable(t.String()),
  n: nullable(t.Integer({ minimum: 1, maximum: 10 })),
  output_compression: nullable(t.Integer({ minimum: 0, maximum: 100 })),
  output_format: nullable(t.String()),
  partial_images: nullable(t.Integer({ minimum: 0 })),
  quality: nullable(t.String()),
  response_format: nullable(oneOf('url', 'b64_json')),
  size: nullable(t.String()),
  stream: nullable(t.Boolean()),
  user: t.String(),
};

/** A wish for an image, as stock clients send it. */
export const ImageGenerationRequest = open(
  'CreateImageRequest',
  { prompt: t.String({ minLength: 1 }) },
  { ...output, moderation: nullable(oneOf('auto', 'low')), style: nullable(oneOf('vivid', 'natural')) },
);

const image = binary('image/png', 'image/jpeg', 'image/webp');

const ImageEditParts = open(
  'CreateImageEditRequest',
  { image: t.Union([image, t.Array(image)]), prompt: t.String({ minLength: 1 }) },
  { ...output, mask: image, input_fidelity: nullable(oneOf('high', 'low')) },
);

const ImageVariationParts = open(
  'CreateImageVariationRequest',
  { image },
  {
    model: nullable(t.String()),
    n: nullable(t.Integer({ minimum: 1, maximum: 10 })),
    response_format: nullable(oneOf('url', 'b64_json')),
    size: nullable(t.String()),
    user: t.String(),
  },
);

const ImageTokens = open('ImageTokenDetails', { text_tokens: t.Integer(), image_tokens: t.Integer() });

const ImageUsage = open(
  'ImageUsage',
  { input_tokens: t.Integer(), output_tokens: t.Integer(), total_tokens: t.Integer() },
  { input_tokens_details: ImageTokens, output_tokens_details: ImageTokens },
);

/** Images, each as base64 or as an address. */
export const ImageList = open(
  'ImagesResponse',
  { created: t.Integer() },
  {
    data: t.Array(open('Image', {}, { b64_json: t.String(), url: t.String(), revised_prompt: t.String() })),
    usage: ImageUsage,
  },
);

const ImageStreamEvent = open(
  'ImageStreamEvent',
  { type: t.String() },
  { b64_json: t.String(), partial_image_index: t.Integer(), usage: ImageUsage },
);

const here = { tag: 'Images', response: ImageList, access: 'member' } as const;

/** Images, in the wire format of stock clients. */
export const compatImages = {
  ImageGeneration: endpoint({
    ...here,
    spec: 'gateway',
    id: 'ImageGeneration',
    method: 'POST',
    path: '/compat/v1/images/generations',
    summary: 'Make images from a text',
    body: ImageGenerationRequest,
    chunk: ImageStreamEvent,
  }),
  ImageEdit: endpoint({
    ...here,
    spec: 'gateway',
    id: 'ImageEdit',
    method: 'POST',
    path: '/compat/v1/images/edits',
    summary: 'Change images by a text',
    rawBody: 'multipart/form-data',
    body: ImageEditParts,
    bodyLimit: 64 * MB,
    chunk: ImageStreamEvent,
  }),
  CreateCompatImageVariation: endpoint({
    ...here,
    spec: 'extra',
    id: 'CreateCompatImageVariation',
    method: 'POST',
    path: '/compat/v1/images/variations',
    summary: 'Make variations of an image',
    rawBody: 'multipart/form-data',
    body: ImageVariationParts,
    bodyLimit: 16 * MB,
  }),
} satisfies Group;
