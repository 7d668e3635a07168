import type { Output } from '../../../../../src/api/endpoint.ts';
import type { ImageGenerationRequest } from '../../../../../src/api/gateway/images.ts';
import type { imageVariations } from '../../../../../src/api/gateway/variations.ts';
import type { Value } from '../../../../../src/api/schema.ts';
import { fail, invalid } from '../../../../../src/errors/app-error.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { RelayRequest } from '../../upstream/adapter.ts';
import type { FormRequest } from '../form/form-request.ts';
import { imageKind } from '../form/image-kind.ts';
import { answerRaw } from '../raw-answer.ts';
import { relayWork } from '../relay-work.ts';
import { imageReading } from './reading.ts';

/** The model of generations and edits that name none. */
export const DEFAULT_IMAGE_MODEL = 'gpt-image-1';
/** The model of variations that name none. */
export const DEFAULT_VARIATION_MODEL = 'dall-e-2';

type GenerationRequest = Value<typeof ImageGenerationRequest> & { readonly model: string };
type NativeVariations = Output<typeof imageVariations.ImageVariation>;

const generations = relayWork<RelayRequest>('image_generations');
const edits = relayWork<RelayRequest>('image_edits');
const variations = relayWork<RelayRequest>('image_variations');

/** Images: in the wire format of stock clients, and variations in the native one. */
export class ImagesSurface {
  constructor(private readonly pipeline: Pipeline) {}

  /** Makes images from a text. Errors: as Pipeline.run. */
  generate(call: ModelCall<GenerationRequest>): Promise<Response> {
    return answerRaw<RelayRequest>(this.pipeline, call, generations, imageReading);
  }

  /** Changes images. `over` is called when the form is not needed any more. Errors: invalid_argument; as Pipeline.run. */
  edit(call: ModelCall<FormRequest>, over: () => void): Promise<Response> {
    return this.withForm(call, edits, over);
  }

  /** Varies an image. As `edit`. */
  vary(call: ModelCall<FormRequest>, over: () => void): Promise<Response> {
    return this.withForm(call, variations, over);
  }

  /** Varies an image and answers in the native shape. Errors: as `edit`. */
  async varyNative(call: ModelCall<FormRequest>, answerHeaders: Headers): Promise<NativeVariations> {
    const response = await this.vary(call, () => undefined);
    for (const [name, value] of response.headers)
      if (/^x-(?:svc|ratelimit)-/.test(name)) answerHeaders.set(name, value);
    const { created, data = [] } = await readImages(response);
    return {
      created: String(created ?? 0),
      data: data.map(({ b64_json, url, revised_prompt }) => ({
        b64Json: b64_json ?? undefined,
        url: url ?? undefined,
        revisedPrompt: revised_prompt ?? undefined,
      })),
      model: call.request.model,
    };
  }

  private async withForm(
    call: ModelCall<FormRequest>,
    work: typeof edits,
    over: () => void,
  ): Promise<Response> {
    try {
      checkImages(call.request);
    } catch (error) {
      over();
      throw error;
    }
    return answerRaw<RelayRequest>(this.pipeline, call, work, imageReading, over);
  }
}

interface CompatImages {
  readonly created?: number;
  readonly data?: readonly {
    readonly b64_json?: string | null;
    readonly url?: string | null;
    readonly revised_prompt?: string | null;
  }[];
}

async function readImages(response: Response): Promise<CompatImages> {
  try {
    return (await response.json()) as CompatImages;
  } catch {
    throw fail('upstream_failed', {
      message: 'The provider answered with something that is no list of images.',
    });
  }
}

function checkImages({ form }: FormRequest): void {
  for (const { name, fileName, content } of form.parts)
    if (fileName !== undefined && /^(?:image|mask)(?:\[\])?$/.test(name) && !imageKind(content.head))
      throw invalid({ field: name.replace('[]', ''), description: 'must be a PNG, JPEG or WebP image' });
}
