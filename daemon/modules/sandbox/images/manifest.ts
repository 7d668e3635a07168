import type { ImageInfo } from '../drivers/driver.ts';
import { type ImageBounds, unusable } from './image.ts';

/** A blob by its content: what a manifest says about a layer or a configuration. */
export interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

/** The parts of one image for one platform. */
export interface Manifest {
  readonly config: Descriptor;
  /** From the lowest to the topmost. */
  readonly layers: readonly Descriptor[];
}

/** What of an image's configuration plays a part here. */
export interface ImageConfig {
  readonly env: Readonly<Record<string, string>>;
  readonly workDir: string;
  /** Digests of the layers before compression, from the lowest to the topmost. */
  readonly diffIds: readonly string[];
}

/** The kinds of documents that are asked for: manifests and indexes of OCI, and Docker's of the same shapes. */
export const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const CONFIG_LIMIT = 4 * 1024 * 1024;

type Json = Readonly<Record<string, unknown>>;

/** The descriptor of the manifest for this machine in an index; undefined when the document is no index. */
export function pickPlatform(document: unknown, architecture = process.arch): Descriptor | undefined {
  const manifests = object(document).manifests;
  if (!Array.isArray(manifests)) return undefined;
  const wanted = architecture === 'x64' ? 'amd64' : architecture;
  const entries = manifests.map(object);
  const fits = entries.filter(({ platform }) => {
    const { os = 'linux', architecture: cpu = wanted } = object(platform);
    return os === 'linux' && cpu === wanted;
  });
  const [first] = fits;
  if (!first) throw unusable(`it is not there for linux/${wanted}`);
  return descriptor(first, CONFIG_LIMIT);
}

/** Reads a manifest. Errors: UnusableImage when it is none, or too much. */
export function parseManifest(document: unknown, bounds: ImageBounds): Manifest {
  const { config, layers } = object(document);
  if (!Array.isArray(layers)) throw unusable('its manifest has no layers');
  if (layers.length > bounds.layers) throw unusable(`it has more than ${bounds.layers} layers`);
  return {
    config: descriptor(object(config), CONFIG_LIMIT),
    layers: layers.map((layer) => descriptor(object(layer), bounds.blobBytes)),
  };
}

/** Reads an image's configuration. Errors: UnusableImage. */
export function parseConfig(document: unknown): ImageConfig {
  const { config, rootfs } = object(document);
  const { Env, WorkingDir } = object(config);
  const ids = object(rootfs).diff_ids;
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string' && DIGEST.test(id)))
    throw unusable('its configuration names no layers');
  const words = Array.isArray(Env) ? Env.filter((word): word is string => typeof word === 'string') : [];
  const pairs = words.filter((word) => word.includes('=')).map((word) => splitOnce(word));
  const isPath = typeof WorkingDir === 'string' && WorkingDir.startsWith('/') && WorkingDir !== '/';
  return { env: Object.fromEntries(pairs), workDir: isPath ? WorkingDir : '/workspace', diffIds: ids };
}

/** What the outside is told about an image. */
export function imageInfo(reference: string, id: string, { env, workDir }: ImageConfig): ImageInfo {
  return { reference, id, env, workDir };
}

function descriptor({ digest, size }: Json, limit: number): Descriptor {
  if (typeof digest !== 'string' || !DIGEST.test(digest))
    throw unusable('it names a blob without a sha256 digest');
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw unusable('it names a blob without a size');
  if (size > limit) throw unusable(`a part of it has ${size} bytes, more than ${limit}`);
  return { digest, size };
}

function splitOnce(word: string): [string, string] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}

/** A value as an object; an empty one when it is something else. */
export function object(value: unknown): Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {};
}
