import { digestOf, makeTar, type Wanted } from './tars.ts';

/** The blobs of an image, and the documents that name them. */
export interface ImageFiles {
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly configDigest: string;
  readonly layerDigests: readonly string[];
  readonly diffIds: readonly string[];
  /** The digest of the manifest, and that of the index that names it for each platform. */
  readonly manifestDigest: string;
  readonly indexDigest: string;
}

/** How an image for tests is made. */
export interface ImageRecipe {
  /** From the lowest up. */
  readonly layers: ReadonlyArray<readonly Wanted[]>;
  readonly compression?: 'gzip' | 'zstd' | 'none';
  readonly env?: readonly string[];
  readonly workDir?: string;
}

const OCI = 'application/vnd.oci.image';

/** Makes an image as a registry would hold it. */
export function makeImage({ layers, compression = 'gzip', env = [], workDir = '' }: ImageRecipe): ImageFiles {
  const blobs = new Map<string, Uint8Array>();
  const keep = (bytes: Uint8Array): string => {
    blobs.set(digestOf(bytes), bytes);
    return digestOf(bytes);
  };
  const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const tars = layers.map(makeTar);
  const diffIds = tars.map(digestOf);
  const packed = tars.map((tar) => compress(tar, compression));
  const layerDigests = packed.map(keep);
  const config = json({
    config: { Env: env, WorkingDir: workDir },
    rootfs: { type: 'layers', diff_ids: diffIds },
  });
  const configDigest = keep(config);
  const manifest = json({
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: { mediaType: `${OCI}.config.v1+json`, digest: configDigest, size: config.length },
    layers: packed.map((bytes, i) => ({
      mediaType: `${OCI}.layer`,
      digest: layerDigests[i],
      size: bytes.length,
    })),
  });
  const manifestDigest = keep(manifest);
  const entry = { mediaType: `${OCI}.manifest.v1+json`, digest: manifestDigest, size: manifest.length };
  const index = json({
    schemaVersion: 2,
    mediaType: `${OCI}.index.v1+json`,
    manifests: [
      { ...entry, digest: `sha256:${'0'.repeat(64)}`, platform: { os: 'linux', architecture: 's390x' } },
      { ...entry, platform: { os: 'linux', architecture: 'amd64' } },
      { ...entry, platform: { os: 'linux', architecture: 'arm64' } },
    ],
  });
  return { blobs, configDigest, layerDigests, diffIds, manifestDigest, indexDigest: keep(index) };
}

function compress(tar: Uint8Array, compression: ImageRecipe['compression']): Uint8Array {
  if (compression === 'none') return tar;
  return compression === 'zstd' ? Bun.zstdCompressSync(tar) : Bun.gzipSync(Buffer.from(tar));
}

/** The image as an OCI image layout in one archive. */
export function asLayout({ blobs, indexDigest }: ImageFiles): Uint8Array {
  return makeTar([
    { path: 'oci-layout', content: '{"imageLayoutVersion":"1.0.0"}' },
    { path: 'index.json', content: text(blobs.get(indexDigest)) },
    { path: 'blobs/', kind: 'directory' },
    { path: 'blobs/sha256/', kind: 'directory' },
    ...[...blobs].map(([digest, bytes]) => ({
      path: `blobs/${digest.replace(':', '/')}`,
      content: bytes,
    })),
  ]);
}

/** The image as `docker save` writes it: its layers have no compression. */
export function asSaved({ blobs, configDigest, layerDigests }: ImageFiles): Uint8Array {
  const hex = (digest = '') => digest.replace('sha256:', '');
  const layers = layerDigests.map((digest) => `${hex(digest)}/layer.tar`);
  return makeTar([
    { path: `${hex(configDigest)}.json`, content: text(blobs.get(configDigest)) },
    ...layerDigests.map((digest, i) => ({ path: layers[i] ?? '', content: blobs.get(digest) })),
    {
      path: 'manifest.json',
      content: JSON.stringify([{ Config: `${hex(configDigest)}.json`, RepoTags: ['t:1'], Layers: layers }]),
    },
  ]);
}

function text(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}
