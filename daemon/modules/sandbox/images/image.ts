import type { ImageInfo, ImageProgress } from '../drivers/driver.ts';

/** A directory of a box that is an overlay, and the read-only layers below it, the topmost first. */
export interface ImageMount {
  /** `/`, or the path of a directory that is mounted on top of it. */
  readonly target: string;
  /** Paths relative to the image folder, or absolute ones of the host. */
  readonly lowers: readonly string[];
}

/** An image that is here, and what to mount for it. The mount of `/` is the first. */
export interface StoredImage {
  readonly info: ImageInfo;
  readonly mounts: readonly ImageMount[];
}

/** What is told about the getting of an image, and how it is called off. */
export interface Watch {
  readonly progress: (step: ImageProgress) => void;
  readonly signal?: AbortSignal;
}

/** How much an image may bring, so that none fills the disk or the memory. */
export interface ImageBounds {
  /** Bytes of one layer, unpacked. */
  readonly layerBytes: number;
  /** Files, directories and links of one layer. */
  readonly layerEntries: number;
  /** Bytes of one compressed blob. */
  readonly blobBytes: number;
  readonly layers: number;
}

const GIB = 1024 ** 3;

/** Bounds that real images stay far below. */
export const IMAGE_BOUNDS: ImageBounds = {
  layerBytes: 32 * GIB,
  layerEntries: 2_000_000,
  blobBytes: 16 * GIB,
  layers: 128,
};

/** An image that cannot be used, and why, in words that may be shown. */
export class UnusableImage extends Error {
  constructor(readonly why: string) {
    super(why);
    this.name = 'UnusableImage';
  }
}

/** Makes the error of an image that cannot be used. */
export function unusable(why: string): UnusableImage {
  return new UnusableImage(why);
}
