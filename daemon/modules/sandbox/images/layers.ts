import { lstat, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../drivers/host/files.ts';
import type { IdRange } from '../drivers/host/user-namespace.ts';
import { type BaseFile, userFiles, writeBaseLayer } from './base-layer.ts';
import { unusable } from './image.ts';
import { type UnpackOptions, unpackLayer } from './unpack.ts';

/** Unpacked layers, each in a folder that is named after its content: images share what they have in common. */
export class Layers {
  constructor(
    private readonly images: string,
    private readonly range: IdRange,
    private readonly files: readonly BaseFile[],
  ) {}

  /** The name of a layer, relative to the image folder. */
  nameOf(diffId: string): string {
    return join('layers', diffId.replace('sha256:', '').slice(0, 32));
  }

  has(diffId: string): boolean {
    return exists(join(this.images, this.nameOf(diffId)));
  }

  /**
   * Unpacks a layer aside and puts it in place as a whole. Its digest must be `diffId` when that is known.
   * Errors: UnusableImage, HostCommandError; nothing of it is left then.
   */
  async add(
    stream: AsyncIterable<Uint8Array>,
    scratch: string,
    options: UnpackOptions,
    diffId?: string,
  ): Promise<string> {
    const part = join(scratch, `layer-${crypto.randomUUID()}`);
    try {
      const digest = await unpackLayer(stream, part, options);
      if (diffId && digest !== diffId)
        throw unusable('a layer of it is not the one that its configuration names');
      await this.place(part, this.nameOf(digest));
      return digest;
    } finally {
      await rm(part, { recursive: true, force: true });
    }
  }

  /** The layer on top of an image's own: the box's user and the places that the driver mounts on. */
  async addBase(scratch: string, lowers: readonly string[]): Promise<string> {
    const passwd = await this.read(lowers, ['etc', 'passwd']);
    const group = await this.read(lowers, ['etc', 'group']);
    const files = [...userFiles(passwd, group), ...this.files];
    const key = new Bun.CryptoHasher('sha256').update(JSON.stringify([files, this.range])).digest('hex');
    const name = join('layers', `base-${key.slice(0, 32)}`);
    if (exists(join(this.images, name))) return name;
    const part = join(scratch, `base-${crypto.randomUUID()}`);
    await mkdir(part);
    await writeBaseLayer(part, this.range, files);
    await this.place(part, name);
    return name;
  }

  private async place(part: string, name: string): Promise<void> {
    const target = join(this.images, name);
    await mkdir(join(this.images, 'layers'), { recursive: true, mode: 0o700 });
    await rename(part, target).catch((error) => {
      if (!exists(target)) throw error;
    });
  }

  /** A small text of the topmost layer that has it, reached through folders only: a link could lead to the host. */
  private async read(lowers: readonly string[], path: readonly string[]): Promise<string | undefined> {
    for (const lower of lowers) {
      let at = join(this.images, lower);
      let isSafe = true;
      for (const segment of path.slice(0, -1)) {
        at = join(at, segment);
        isSafe &&= (await lstat(at).catch(() => undefined))?.isDirectory() ?? false;
      }
      const file = join(at, path.at(-1) ?? '');
      const stat = isSafe ? await lstat(file).catch(() => undefined) : undefined;
      if (stat?.isFile() && stat.size < MAX_TABLE) return readFile(file, 'utf8');
    }
    return undefined;
  }
}

const MAX_TABLE = 1024 * 1024;
