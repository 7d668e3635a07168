import { existsSync } from 'node:fs';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fail } from '../../../../../../src/errors/app-error.ts';
import { HOST_IMAGE, type ImageMount, type StoredImage } from '../../../images/index.ts';
import type { ImageInfo, SnapshotInfo } from '../../driver.ts';
import { bothOf } from '../../host/both.ts';
import { flush, readJson, writeWhole } from '../../host/files.ts';
import { snapshotOf, snapshotReference } from '../../snapshot-reference.ts';
import { asHostFailure } from '../box/errors.ts';
import type { Host } from '../box/host.ts';
import { KeyedLock } from '../box/keyed-lock.ts';
import { isSafeName } from '../box/paths.ts';
import { boxFolders, readRecord } from '../box/record.ts';
import { heldLayers } from './holds.ts';
import { mergeLayers } from './merge.ts';
import { copyTree, flushTree, removeTrees, sizeOfTree } from './tree.ts';

/** Snapshots that one may stand on; a deeper one takes over what is below it. */
const MOST_BELOW = 16;
const FOLDER = 'snapshots';
const QUIET = { progress: () => {} };

/** Whether a layer is that of a snapshot. */
export function isSnapshotLayer(layer: string): boolean {
  return layer.startsWith(`${FOLDER}/`);
}

/** What is written down about a snapshot. Layers are named relative to the image folder. */
interface Manifest {
  readonly id: string;
  readonly base: ImageInfo;
  /** The mounts of the image; those of the image `host` are the ones that it has when a box starts. */
  readonly mounts?: readonly ImageMount[];
  /** By target of a mount: its own layer and those of the snapshots below it, the topmost first. */
  readonly layers: Readonly<Record<string, readonly string[]>>;
  /** Nobody may make a box of it any more; it is here for the boxes that were. */
  readonly isRemoved?: boolean;
}

/** A tree of changes to copy, and the place in the box that it belongs to. */
export interface Changed {
  readonly target: string;
  readonly dir: string;
}

interface Making {
  /** Is given the work that needs the changes to hold still. */
  readonly copying: (copy: () => Promise<void>) => Promise<void>;
  /** It need not outlive a loss of power. */
  readonly passing: boolean;
}

/** Snapshots as folders of layers that boxes stand on, below the image folder. */
export class Snapshots {
  private readonly root: string;
  private readonly lock = new KeyedLock();
  /** Snapshots that a box is being made of, until its own record says so. */
  private readonly wanted = new Map<string, number>();

  constructor(private readonly host: Host) {
    this.root = join(host.layout.images, FOLDER);
  }

  /**
   * Makes something of the image that a reference names, a snapshot or any other. The snapshot stays meanwhile.
   * Errors: image_not_found.
   */
  async use<T>(reference: string, work: (image: StoredImage) => Promise<T>): Promise<T> {
    const id = snapshotOf(reference);
    if (id === undefined) return work(await this.host.images.prepare(reference, QUIET));
    this.wanted.set(id, (this.wanted.get(id) ?? 0) + 1);
    try {
      return await work(await this.open(id, false));
    } finally {
      const others = (this.wanted.get(id) ?? 1) - 1;
      if (others > 0) this.wanted.set(id, others);
      else this.wanted.delete(id);
    }
  }

  /** The image that a box was made of: also a snapshot that was removed since. Errors: image_not_found. */
  async imageOfBox(reference: string): Promise<StoredImage> {
    const id = snapshotOf(reference);
    return id === undefined ? this.host.images.prepare(reference, QUIET) : this.open(id, true);
  }

  /**
   * Makes a snapshot of an image with changes on top.
   * Errors: already_exists, disk_full, unavailable; nothing is left then.
   */
  async make(
    id: string,
    image: ImageInfo,
    changes: readonly Changed[],
    { copying, passing }: Making,
  ): Promise<SnapshotInfo> {
    this.refuseTaken(id);
    const part = join(this.root, `.part-${process.pid}-${crypto.randomUUID()}`);
    try {
      await mkdir(part, { recursive: true, mode: 0o700 });
      await copying(async () => {
        for (const { target, dir } of changes) await copyTree(dir, join(part, nameOf(target)));
      });
      const below = await this.manifestFor(image);
      const layers = await this.stack(id, part, below, changes);
      const { base, mounts } = below;
      this.write(part, { id, base, mounts, layers });
      // Nobody asks how large a passing one is: it is there for a moment.
      const [sizeBytes] = passing ? [0] : await bothOf(sizeOfTree(part), flushTree(part));
      await rename(part, this.dirOf(id));
      if (!passing) await flush(this.root);
      return { sizeBytes, image: base };
    } catch (error) {
      await removeTrees(part).catch(() => {});
      throw asHostFailure(error, 'Making the snapshot');
    }
  }

  /** Keeps an image as it is now. Errors: image_not_found, already_exists, disk_full. */
  async makeOfImage(reference: string, id: string): Promise<SnapshotInfo> {
    const { info } = await this.host.images.prepare(reference, QUIET);
    return this.make(id, info, [], { copying: (copy) => copy(), passing: false });
  }

  /** Removes a snapshot, and its files when nothing stands on them. */
  async remove(id: string): Promise<void> {
    const manifest = this.read(id);
    if (!manifest) return;
    this.write(this.dirOf(id), { ...manifest, isRemoved: true });
    await this.sweep();
  }

  async list(): Promise<string[]> {
    const manifests = (await this.folders()).map((id) => this.read(id));
    return manifests.flatMap((manifest) => (manifest && !manifest.isRemoved ? [manifest.id] : []));
  }

  /** Deletes what was left half made, and the removed snapshots on which no box, archive or snapshot stands. */
  sweep(): Promise<void> {
    return this.lock.run(FOLDER, () => this.deleteUnused());
  }

  private async deleteUnused(): Promise<void> {
    const names = await readdir(this.root).catch((): string[] => []);
    const trash = names.filter(isWaste);
    const manifests = (await this.folders()).flatMap((id) => this.read(id) ?? []);
    const kept = manifests
      .filter(({ isRemoved }) => !isRemoved)
      .flatMap(({ layers }) => Object.values(layers));
    const boxes = boxFolders(this.host.layout).flatMap(({ dir }) => readRecord(dir) ?? []);
    const used = new Set([...kept, ...boxes.map(({ layers }) => layers), ...heldLayers(this.host)].flat());
    for (const manifest of manifests) {
      const isUsed = [...used].some((layer) => layer.startsWith(`${FOLDER}/${manifest.id}/`));
      if (!manifest.isRemoved || isUsed || this.wanted.has(manifest.id)) continue;
      const away = `.trash-${crypto.randomUUID()}`;
      await rename(this.dirOf(manifest.id), join(this.root, away));
      trash.push(away);
    }
    if (trash.length > 0) await removeTrees(...trash.map((name) => join(this.root, name)));
  }

  private async open(id: string, mayBeRemoved: boolean): Promise<StoredImage> {
    const manifest = this.read(id);
    if (!manifest || (manifest.isRemoved && !mayBeRemoved))
      throw fail('image_not_found', { image: snapshotReference(id), why: 'there is no such snapshot' });
    const base = manifest.mounts ?? (await this.host.images.prepare(HOST_IMAGE, QUIET)).mounts;
    const mounts = base.map(({ target, lowers }) => ({
      target,
      lowers: [...(manifest.layers[target] ?? []), ...lowers],
    }));
    const reference = snapshotReference(id);
    return { info: { ...manifest.base, reference, id: reference }, mounts };
  }

  /** What is known of an image: that of the snapshot it is, or of what any other image is made of. */
  private async manifestFor(image: ImageInfo): Promise<Pick<Manifest, 'base' | 'mounts' | 'layers'>> {
    const id = snapshotOf(image.reference);
    const below = id === undefined ? undefined : this.read(id);
    if (below) return below;
    if (image.reference === HOST_IMAGE) return { base: image, layers: {} };
    const { info, mounts } = await this.host.images.prepare(image.reference, QUIET);
    return { base: info, mounts, layers: {} };
  }

  /** The layers of a new snapshot: its own on those below, or in their place when they are too many. */
  private async stack(
    id: string,
    part: string,
    { layers }: Pick<Manifest, 'layers'>,
    changes: readonly Changed[],
  ): Promise<Manifest['layers']> {
    const stacks = { ...layers };
    for (const { target } of changes) {
      const name = nameOf(target);
      const below = layers[target] ?? [];
      if (below.length >= MOST_BELOW) {
        const all = [join(part, name), ...below.map((layer) => join(this.host.layout.images, layer))];
        await mergeLayers(all, join(part, `${name}.merged`));
        await removeTrees(join(part, name));
        await rename(join(part, `${name}.merged`), join(part, name));
        stacks[target] = [join(FOLDER, id, name)];
      } else stacks[target] = [join(FOLDER, id, name), ...below];
    }
    return stacks;
  }

  private refuseTaken(id: string): void {
    if (!isSafeName(id) || existsSync(this.dirOf(id))) throw fail('already_exists', { what: 'snapshot', id });
  }

  private async folders(): Promise<string[]> {
    return (await readdir(this.root).catch((): string[] => [])).filter(isSafeName);
  }

  private read(id: string): Manifest | undefined {
    return isSafeName(id) ? readJson<Manifest>(manifestOf(this.dirOf(id))) : undefined;
  }

  private write(dir: string, manifest: Manifest): void {
    writeWhole(manifestOf(dir), JSON.stringify(manifest));
  }

  private dirOf(id: string): string {
    return join(this.root, id);
  }
}

function manifestOf(dir: string): string {
  return join(dir, 'snapshot.json');
}

/** Whether a folder is what a daemon left that died: one that was being deleted, or half made. */
function isWaste(name: string): boolean {
  const maker = /^\.part-(\d+)-/.exec(name)?.[1];
  return name.startsWith('.trash-') || (maker !== undefined && !existsSync(`/proc/${maker}`));
}

/** The folder of a mount's layer: as in the folder of a box. */
function nameOf(target: string): string {
  return target === '/' ? 'root' : target.slice(1);
}
