import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { IdRange } from '../drivers/host/user-namespace.ts';
import { decompress } from './decompress.ts';
import type { ImageFetch } from './fetch.ts';
import { type ImageBounds, unusable, type Watch } from './image.ts';
import type { Layers } from './layers.ts';
import { type ImageConfig, type Manifest, parseConfig, parseManifest, pickPlatform } from './manifest.ts';
import type { RegistryReference } from './reference.ts';
import { type Document, RegistryClient, type RegistryLogin } from './registry.ts';

/** What to pull, and what with. */
export interface PullOptions {
  readonly reference: RegistryReference;
  readonly fetch: ImageFetch;
  readonly login?: RegistryLogin;
  readonly range: IdRange;
  readonly bounds: ImageBounds;
  readonly layers: Layers;
  readonly scratch: string;
  readonly watch: Watch;
}

const MAX_INDEXES = 3;

/**
 * Pulls an image: its manifest for this machine, its configuration, and the layers that are not here yet, each
 * checked twice, as it arrives and as it unpacks. A layer that is in place stays when a later one fails, so
 * that the next attempt goes on from there. Errors: UnusableImage.
 */
export async function pullImage(
  options: PullOptions,
): Promise<{ id: string; config: ImageConfig; diffIds: readonly string[] }> {
  const { reference, fetch, login, bounds, watch } = options;
  const client = new RegistryClient(reference, fetch, login, watch.signal);
  watch.progress({ step: 'resolve', done: 0, total: 0 });
  const { digest, body } = await forThisMachine(client, await client.manifest(reference.target));
  const manifest = parseManifest(body, bounds);
  const config = parseConfig(await client.json(manifest.config));
  if (config.diffIds.length !== manifest.layers.length)
    throw unusable('its configuration and its layers do not match');
  await getLayers(client, manifest, config, options);
  return { id: digest, config, diffIds: config.diffIds };
}

async function forThisMachine(client: RegistryClient, document: Document): Promise<Document> {
  let at = document;
  for (let i = 0; i < MAX_INDEXES; i++) {
    const next = pickPlatform(at.body);
    if (!next) return at;
    at = await client.manifest(next.digest);
  }
  throw unusable('its index leads to nothing but indexes');
}

async function getLayers(
  client: RegistryClient,
  manifest: Manifest,
  { diffIds }: ImageConfig,
  { layers, scratch, range, bounds, watch }: PullOptions,
): Promise<void> {
  const missing = manifest.layers.flatMap((layer, i) => {
    const diffId = diffIds[i] ?? '';
    return layers.has(diffId) ? [] : [{ layer, diffId }];
  });
  const total = missing.reduce((sum, { layer }) => sum + layer.size, 0);
  let done = 0;
  for (const [i, { layer, diffId }] of missing.entries()) {
    const file = join(scratch, `blob-${i}`);
    await client.download(layer, file, (count) => {
      done += count;
      watch.progress({ step: 'download', done, total });
    });
    await layers.add(
      decompress(createReadStream(file)),
      scratch,
      { range, bounds, signal: watch.signal },
      diffId,
    );
    await rm(file);
    watch.progress({ step: 'unpack', done: i + 1, total: missing.length });
  }
}
