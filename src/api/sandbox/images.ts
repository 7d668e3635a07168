import { endpoint, type Group } from '../endpoint.ts';
import { model, object, stringMap, t, timestamp } from '../schema.ts';

/** What an image is made of (spec, Image builder). */
export const ImageSpec = model('ImageSpec', {
  base: t.String({ description: 'Base image; a slim Debian bookworm when absent.' }),
  apt: t.Array(t.String()),
  pip: t.Array(t.String()),
  npm: t.Array(t.String()),
  run: t.Array(t.String(), { description: 'Shell commands, in order.' }),
  env: stringMap(),
  workdir: t.String(),
  user: t.String(),
});

/** An image, built or being built. */
export const BuildImageResponse = object(
  'BuildImageResponse',
  {
    image_id: t.String(),
    image_ref: t.String(),
    cached: t.Boolean(),
    build_ms: t.Integer(),
    state: t.String(),
  },
  { expires_at: timestamp(), note: t.String() },
);

const here = { spec: 'guide', tag: 'Sandbox images' } as const;

/** Images built from a declaration. */
export const images = {
  BuildImage: endpoint({
    ...here,
    id: 'BuildImage',
    method: 'POST',
    path: '/v1/images/build',
    summary: 'Build an image from a declaration, or find it built',
    body: object('BuildImageRequest', { spec: ImageSpec }),
    response: BuildImageResponse,
    access: 'member',
    unbuilt: true,
  }),
} satisfies Group;
