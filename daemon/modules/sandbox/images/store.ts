import { mkdir } from 'node:fs/promises';
import { fail } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { IdRange } from '../drivers/namespace/host/user-namespace.ts';
import type { BaseFile } from './base-layer.ts';
import type { ImageFetch } from './fetch.ts';
import { HOST_IMAGE, makeHostImage, makeMask, releaseHostImage } from './host-image.ts';
import type { StoredImage, Watch } from './image.ts';

/** What images are kept with. */
export interface ImageStoreOptions {
  readonly images: string;
  readonly dataDir: string;
  readonly range: IdRange;
  readonly files: readonly BaseFile[];
  /** The way out to registries; without it only what is on this host can be prepared. */
  readonly fetch?: ImageFetch;
}

/** Images that were made usable: unpacked, with owners shifted into the ids of boxes. */
export interface ImageStore {
  prepare(reference: string, watch: Watch): Promise<StoredImage>;
  /** Lets go of what no box stands on; `inUse` holds the layers that boxes stand on. */
  release(inUse: ReadonlySet<string>): Promise<void>;
}

const HOST_CHECK_MS = 60 * SECOND_MS;

export function createImageStore(options: ImageStoreOptions): ImageStore {
  let host: { image: Promise<StoredImage>; at: number } | undefined;
  let mask: Promise<string> | undefined;
  async function makeHost(): Promise<StoredImage> {
    await mkdir(options.images, { recursive: true, mode: 0o700 });
    mask ??= makeMask(options);
    return makeHostImage(options, await mask);
  }
  return {
    async prepare(reference) {
      if (reference !== HOST_IMAGE) throw fail('image_not_found', { image: reference, why: 'todo' });
      if (!host || performance.now() - host.at > HOST_CHECK_MS)
        host = { image: makeHost(), at: performance.now() };
      return host.image;
    },
    async release(inUse) {
      await releaseHostImage(options.images, inUse);
      host = undefined;
    },
  };
}
