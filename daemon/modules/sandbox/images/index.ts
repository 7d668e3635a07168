export type { BaseFile } from './base-layer.ts';
export type { ImageFetch } from './fetch.ts';
export { HOST_IMAGE } from './host-image.ts';
export type { ImageMount, StoredImage } from './image.ts';
export { createImageStore, type ImageStore, type ImageStoreOptions } from './store.ts';
