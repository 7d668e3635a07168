import { mkdirSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { AppError, fail } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import { errnoOf, exists, readJson, writeWhole } from '../drivers/host/files.ts';
import type { IdRange } from '../drivers/host/user-namespace.ts';
import { openArchive } from './archive.ts';
import type { BaseFile } from './base-layer.ts';
import type { ImageFetch } from './fetch.ts';
import { HOST_IMAGE, makeHostImage, makeMask, releaseHostImage } from './host-image.ts';
import {
  IMAGE_BOUNDS,
  type ImageBounds,
  type StoredImage,
  UnusableImage,
  unusable,
  type Watch,
} from './image.ts';
import { Layers } from './layers.ts';
import { type ImageConfig, imageInfo } from './manifest.ts';
import { pullImage } from './pull.ts';
import { parseReference } from './reference.ts';
import type { RegistryLogin } from './registry.ts';

/** What images are kept with. */
export interface ImageStoreOptions {
  /** The folder of all images; nobody but root may enter it. */
  readonly images: string;
  readonly dataDir: string;
  /** Where the host's own folders are mounted with shifted owners: outside the data directory. */
  readonly shiftDir: string;
  /** The host ids that stand for the ids inside. */
  readonly range: IdRange;
  /** What every image gets on top: the init program. */
  readonly files: readonly BaseFile[];
  /** The way out to registries; without it only what is on this host can be prepared. */
  readonly fetch?: ImageFetch;
  readonly login?: RegistryLogin;
  readonly bounds?: ImageBounds;
}

/** Images made usable: unpacked, with owners shifted into the ids of boxes. */
export interface ImageStore {
  /**
   * Gets an image and keeps it; at once when it is there. `host`, the path of an archive, or a reference.
   * Errors: image_not_found with the reason, disk_full. Nothing half made is left.
   */
  prepare(reference: string, watch: Watch): Promise<StoredImage>;
  /** Lets go of what no box stands on; `inUse` holds the layers that boxes stand on. */
  release(inUse: ReadonlySet<string>): Promise<void>;
}

/** A kept image, and the state of the file that it was made from. */
interface Kept extends StoredImage {
  readonly stamp: string;
}

const HOST_CHECK_MS = 60 * SECOND_MS;

/** Opens the images of a data directory. */
export function createImageStore(options: ImageStoreOptions): ImageStore {
  return new Store(options);
}

class Store implements ImageStore {
  private readonly layers: Layers;
  private readonly bounds: ImageBounds;
  private readonly underWay = new Map<string, Promise<StoredImage>>();
  /** Images whose topmost layer is known to be of this version. */
  private readonly current = new Set<string>();
  private host: { readonly image: Promise<StoredImage>; readonly at: number } | undefined;
  private mask: Promise<string> | undefined;
  private swept: Promise<void> | undefined;

  constructor(private readonly options: ImageStoreOptions) {
    this.layers = new Layers(options.images, options.range, options.files);
    this.bounds = options.bounds ?? IMAGE_BOUNDS;
  }

  async prepare(reference: string, watch: Watch): Promise<StoredImage> {
    try {
      return await (reference === HOST_IMAGE ? this.prepareHost() : this.prepareOther(reference, watch));
    } catch (error) {
      throw asImageError(reference, error, watch.signal);
    }
  }

  async release(inUse: ReadonlySet<string>): Promise<void> {
    this.host = undefined;
    this.mask = undefined;
    await releaseHostImage(this.options, inUse);
  }

  private prepareHost(): Promise<StoredImage> {
    if (!this.host || performance.now() - this.host.at > HOST_CHECK_MS) {
      const image = this.makeHost();
      this.host = { image, at: performance.now() };
      image.catch(() => {
        this.host = undefined;
        this.mask = undefined;
      });
    }
    return this.host.image;
  }

  private async makeHost(): Promise<StoredImage> {
    await mkdir(join(this.options.images, HOST_IMAGE), { recursive: true, mode: 0o700 });
    this.mask ??= makeMask(this.options);
    return makeHostImage(this.options, await this.mask);
  }

  /** One getting at a time of each image; who asks meanwhile waits for the same one. */
  private async prepareOther(reference: string, watch: Watch): Promise<StoredImage> {
    const stamp = await stampOf(reference);
    const running = this.underWay.get(reference);
    if (running) return running;
    const kept = this.kept(reference, stamp);
    if (kept && this.current.has(reference)) return kept;
    const getting = (kept ? this.renew(reference, stamp, kept) : this.get(reference, stamp, watch)).finally(
      () => this.underWay.delete(reference),
    );
    this.underWay.set(reference, getting);
    return getting;
  }

  private kept(reference: string, stamp: string): StoredImage | undefined {
    const kept = readJson<Kept>(this.recordOf(reference));
    if (!kept || kept.stamp !== stamp) return undefined;
    const { info, mounts } = kept;
    const names = mounts.flatMap(({ lowers }) => lowers);
    return names.every((name) => exists(join(this.options.images, name))) ? { info, mounts } : undefined;
  }

  /** An image that an earlier version of svc has kept gets the topmost layer of this one. */
  private async renew(reference: string, stamp: string, kept: StoredImage): Promise<StoredImage> {
    const [, ...lowers] = kept.mounts.flatMap((mount) => mount.lowers);
    return this.inScratch(async (scratch) => {
      const base = await this.layers.addBase(scratch, lowers);
      return this.keep(reference, stamp, { ...kept, mounts: [{ target: '/', lowers: [base, ...lowers] }] });
    });
  }

  private keep(reference: string, stamp: string, image: StoredImage): StoredImage {
    mkdirSync(join(this.options.images, 'refs'), { recursive: true, mode: 0o700 });
    writeWhole(this.recordOf(reference), JSON.stringify({ ...image, stamp } satisfies Kept));
    this.current.add(reference);
    return image;
  }

  private async inScratch<T>(work: (scratch: string) => Promise<T>): Promise<T> {
    const scratch = join(this.options.images, `.part-${process.pid}-${crypto.randomUUID()}`);
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    try {
      return await work(scratch);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  private async get(reference: string, stamp: string, watch: Watch): Promise<StoredImage> {
    this.swept ??= this.sweep();
    await this.swept;
    return this.inScratch(async (scratch) => {
      const got = isAbsolute(reference)
        ? await this.fromArchive(reference, scratch, watch)
        : await this.fromRegistry(reference, scratch, watch);
      // An overlay takes each folder once: of a layer that comes twice the upper one hides all of the lower one.
      const lowers = [...new Set(got.diffIds.toReversed().map((id) => this.layers.nameOf(id)))];
      const base = await this.layers.addBase(scratch, lowers);
      const info = imageInfo(reference, got.id, got.config);
      return this.keep(reference, stamp, { info, mounts: [{ target: '/', lowers: [base, ...lowers] }] });
    });
  }

  private async fromArchive(path: string, scratch: string, watch: Watch): Promise<Got> {
    const { id, config, layers } = await openArchive(path, scratch, this.bounds, watch);
    if (config && config.diffIds.length !== layers.length)
      throw unusable('its configuration and its layers do not match');
    const diffIds: string[] = [];
    for (const [i, open] of layers.entries()) {
      watch.progress({ step: 'unpack', done: i, total: layers.length });
      const known = config?.diffIds[i];
      const options = { range: this.options.range, bounds: this.bounds, signal: watch.signal };
      if (known && this.layers.has(known)) diffIds.push(known);
      else diffIds.push(await this.layers.add(open(), scratch, options, known));
    }
    watch.progress({ step: 'unpack', done: layers.length, total: layers.length });
    const plain: ImageConfig = { env: {}, workDir: '/workspace', diffIds };
    return { id: id ?? diffIds[0] ?? '', config: config ?? plain, diffIds };
  }

  private async fromRegistry(reference: string, scratch: string, watch: Watch): Promise<Got> {
    const parsed = parseReference(reference);
    if (!parsed) throw unusable('it is neither an absolute path nor the name of an image in a registry');
    const { fetch, login, range } = this.options;
    if (!fetch) throw unusable('it is not here, and this daemon may not download images');
    return pullImage({
      reference: parsed,
      fetch,
      login,
      range,
      bounds: this.bounds,
      layers: this.layers,
      scratch,
      watch,
    });
  }

  /** Takes away what a daemon left that died while it was getting an image. */
  private async sweep(): Promise<void> {
    for (const name of await readdir(this.options.images).catch(() => [])) {
      const maker = /^\.part-(\d+)-/.exec(name)?.[1];
      if (maker && !exists(`/proc/${maker}`))
        await rm(join(this.options.images, name), { recursive: true, force: true });
    }
  }

  private recordOf(reference: string): string {
    const name = new Bun.CryptoHasher('sha256').update(reference).digest('hex');
    return join(this.options.images, 'refs', `${name}.json`);
  }
}

/** An image that was got: its identity, its configuration, and its layers from the lowest up. */
export interface Got {
  readonly id: string;
  readonly config: ImageConfig;
  readonly diffIds: readonly string[];
}

/** Changes when the file behind a reference does; a reference of a registry is kept as it was got first. */
async function stampOf(reference: string): Promise<string> {
  if (!isAbsolute(reference)) return '';
  const { size, mtimeMs, ino, isFile } = await stat(reference).then((it) => ({ ...it, isFile: it.isFile() }));
  if (!isFile) throw unusable('it is not a file');
  return `${size} ${mtimeMs} ${ino}`;
}

function asImageError(image: string, error: unknown, signal: AbortSignal | undefined): AppError {
  if (signal?.aborted) return fail('cancelled');
  if (error instanceof AppError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (errnoOf(error) === 'ENOSPC' || /no space left/i.test(text))
    return fail('disk_full', { message: `There is no space for the image ${JSON.stringify(image)}.` });
  if (error instanceof UnusableImage) return fail('image_not_found', { image, why: error.why });
  if (errnoOf(error) === 'ENOENT' && isAbsolute(image))
    return fail('image_not_found', { image, why: 'there is no such file' });
  return fail('image_not_found', { image, why: text });
}
