import { compatImages } from '../../../../../src/api/gateway/images.ts';
import { imageVariations } from '../../../../../src/api/gateway/variations.ts';
import { implement, type Route } from '../../../../http/route.ts';
import { modelCall } from '../../pipeline/call.ts';
import { formHandler } from '../form/form-calls.ts';
import { nativeVariationRequest } from './native-request.ts';
import { DEFAULT_IMAGE_MODEL, DEFAULT_VARIATION_MODEL, type ImagesSurface } from './surface.ts';

/** Images: made, changed and varied. */
export function imageRoutes(surface: ImagesSurface, directory: () => string): Route[] {
  return [
    ...implement(compatImages, {
      ImageGeneration: (call) => {
        const model = call.body.model ?? DEFAULT_IMAGE_MODEL;
        return surface.generate(modelCall('image_generations', call, { ...call.body, model }));
      },
      ImageEdit: formHandler(
        {
          endpoint: compatImages.ImageEdit,
          surface: 'image_edits',
          files: { image: 'required', mask: 'optional' },
          defaultModel: DEFAULT_IMAGE_MODEL,
        },
        directory,
        (call, over) => surface.edit(call, over),
      ),
      CreateCompatImageVariation: formHandler(
        {
          endpoint: compatImages.CreateCompatImageVariation,
          surface: 'image_variations',
          files: { image: 'required' },
          defaultModel: DEFAULT_VARIATION_MODEL,
        },
        directory,
        (call, over) => surface.vary(call, over),
      ),
    }),
    ...implement(imageVariations, {
      ImageVariation: (call) =>
        surface.varyNative(
          modelCall('image_variations', call, nativeVariationRequest(call.body)),
          call.headers,
        ),
    }),
  ];
}
