import type { Readable } from 'node:stream';
import { asAppError, fail } from '../../../../../src/errors/app-error.ts';
import type { BoxSpec, ImageInfo, SnapshotInfo } from '../driver.ts';
import { readHead, readPacked, writePacked } from '../host/packed-file.ts';
import { snapshotOf } from '../snapshot-reference.ts';
import type { BoxRecord } from './box-folder.ts';
import type { Boxes } from './boxes.ts';
import { type Engine, hasStatus, withEngine } from './engine.ts';
import type { Images } from './image.ts';
import { jsonLines } from './lines.ts';
import { BASE_LABEL, INSTANCE_LABEL, type Names } from './names.ts';

/** What stands at the head of an archive. The rest is what the engine says of an image with all its layers. */
interface Head {
  readonly version: 1;
  readonly record: BoxRecord;
  /** The image's name in the archive. */
  readonly image: string;
}

/** What snapshots are made with. */
export interface SnapshotParts {
  readonly engine: Engine;
  readonly names: Names;
  readonly images: Images;
  readonly boxes: Boxes;
}

/** Snapshots and archives as images of the engine, under names of this instance. */
export class Snapshots {
  private readonly underWay = new Set<string>();

  constructor(private readonly parts: SnapshotParts) {}

  async make(id: string, snapshotId: string): Promise<SnapshotInfo> {
    const name = this.parts.names.snapshot(snapshotId);
    await this.refuseTaken(snapshotId, name);
    return withEngine(id, async () => {
      const base = await this.commit(id, name);
      const [top] = (await this.image(name).history()) as Array<{ Size: number }>;
      return { sizeBytes: top?.Size ?? 0, image: base };
    });
  }

  async makeOfImage(reference: string, snapshotId: string): Promise<SnapshotInfo> {
    const name = this.parts.names.snapshot(snapshotId);
    await this.refuseTaken(snapshotId, name);
    const image = await this.parts.images.prepare(reference);
    await withEngine(snapshotId, () => this.image(image.id).tag(partsOf(name)));
    return { sizeBytes: 0, image };
  }

  /** Takes the name away; the image goes when no box is left that was made of it. */
  async remove(snapshotId: string): Promise<void> {
    await this.retire(this.parts.names.snapshot(snapshotId));
    await this.sweep();
  }

  async list(): Promise<string[]> {
    await this.sweep();
    const { snapshot } = this.parts.names;
    const prefix = snapshot('');
    return (await this.tagged(prefix)).map(({ name }) => name.slice(prefix.length));
  }

  /** Deletes the images that were given up, where no box stands on them. */
  async sweep(): Promise<void> {
    const { retired, packing } = this.parts.names;
    const found = [...(await this.tagged(retired)), ...(await this.tagged(packing))];
    if (found.length === 0) return;
    const containers = await withEngine('', () => this.parts.engine.client.listContainers({ all: true }));
    const used = new Set(containers.map(({ ImageID }) => ImageID));
    let waste = found.filter(({ name, id }) => !used.has(id) && !this.underWay.has(name));
    // One that others stand on is refused while they are there: they may be gone after a round.
    for (let before = waste.length + 1; waste.length > 0 && waste.length < before; ) {
      before = waste.length;
      const refused: typeof waste = [];
      for (const image of waste) if (!(await this.untag(image.name))) refused.push(image);
      waste = refused;
    }
  }

  /** Packs a stopped box with the image that it stands on. Errors: not_found, failed_precondition, disk_full. */
  async archive(id: string, file: string): Promise<{ sizeBytes: number }> {
    const { boxes, names } = this.parts;
    const { record } = await boxes.open(id);
    if ((await boxes.inspect(id)).state !== 'stopped')
      throw fail('failed_precondition', { message: `The box ${id} is running.` });
    const name = `${names.packing}${crypto.randomUUID()}`;
    this.underWay.add(name);
    try {
      return await withEngine(id, async () => {
        await this.commit(id, name);
        const head: Head = { version: 1, record, image: name };
        const content = (await this.image(name).get()) as Readable;
        return { sizeBytes: await writePacked(file, head, content) };
      });
    } finally {
      this.underWay.delete(name);
      await this.untag(name);
    }
  }

  /** Makes the stopped box of an archive. Errors: not_found, already_exists, disk_full. */
  async unarchive(spec: BoxSpec, file: string): Promise<void> {
    const head = headOf(file);
    this.underWay.add(head.image);
    try {
      await withEngine(spec.id, async () => {
        const said = await this.parts.engine.client.loadImage(readPacked(file), { quiet: true });
        for await (const line of jsonLines(said as Readable)) refuse(line);
        const { Id: imageId } = await this.image(head.image).inspect();
        await this.parts.boxes.makeStopped(spec, imageId, head.record);
      });
    } finally {
      await this.retire(head.image);
      this.underWay.delete(head.image);
    }
  }

  /** Makes an image of the files of a box, which stands still meanwhile. Gives what the box is made of. */
  private async commit(id: string, name: string): Promise<ImageInfo> {
    const { record, container } = await this.parts.boxes.open(id);
    const base = await this.baseOf(record.image);
    const config = {
      WorkingDir: record.image.workDir,
      Labels: { [INSTANCE_LABEL]: this.parts.names.instance, [BASE_LABEL]: JSON.stringify(base) },
    };
    const { repo, tag } = partsOf(name);
    // The client has no type for a body beside the query.
    const options = { _query: { container: container.id, repo, tag, pause: true }, _body: config };
    await container.commit(options as Parameters<typeof container.commit>[0]);
    return base;
  }

  /** What an image is made of: for a snapshot that is what its first box was made of. */
  private async baseOf(image: ImageInfo): Promise<ImageInfo> {
    // Anybody can put our label on an image of his own.
    if (snapshotOf(image.reference) === undefined) return image;
    const inspected = await this.image(image.id)
      .inspect()
      .catch(() => undefined);
    const label = inspected?.Config.Labels?.[BASE_LABEL];
    return label ? (JSON.parse(label) as ImageInfo) : image;
  }

  private async refuseTaken(snapshotId: string, name: string): Promise<void> {
    const there = await this.image(name)
      .inspect()
      .catch((error: unknown) => {
        if (hasStatus(error, 404)) return undefined;
        throw asAppError(error);
      });
    if (there) throw fail('already_exists', { what: 'snapshot', id: snapshotId });
  }

  /** Takes a name away; an image that has no other waits under a new one for its last box to go. */
  private async retire(name: string): Promise<void> {
    await withEngine(name, async () => {
      const image = await this.image(name)
        .inspect()
        .catch((error: unknown) => {
          if (hasStatus(error, 404)) return undefined;
          throw error;
        });
      if (image?.RepoTags.length === 1)
        await this.image(name).tag(partsOf(`${this.parts.names.retired}${crypto.randomUUID()}`));
      await this.untag(name);
    });
  }

  /** False when the engine refused because something stands on it. */
  private async untag(name: string): Promise<boolean> {
    try {
      await this.image(name).remove();
    } catch (error) {
      if (hasStatus(error, 409)) return false;
      if (!hasStatus(error, 404)) throw error;
    }
    return true;
  }

  private async tagged(prefix: string): Promise<Array<{ name: string; id: string }>> {
    const filters = { reference: [partsOf(prefix).repo] };
    const images = await withEngine('', () => this.parts.engine.client.listImages({ filters }));
    return images.flatMap(({ Id: id, RepoTags: tags }) =>
      (tags ?? []).filter((name) => name.startsWith(prefix)).map((name) => ({ name, id })),
    );
  }

  private image(name: string) {
    return this.parts.engine.client.getImage(name);
  }
}

function partsOf(name: string): { repo: string; tag: string } {
  const at = name.lastIndexOf(':');
  return { repo: name.slice(0, at), tag: name.slice(at + 1) };
}

function headOf(file: string): Head {
  let head: Head;
  try {
    head = readHead(file) as Head;
  } catch {
    throw fail('not_found', { what: 'archive', id: file });
  }
  if (head.version !== 1) throw fail('unavailable', { message: `${file} is an archive of a later version.` });
  return head;
}

function refuse(line: unknown): void {
  const { error } = line as { error?: string };
  if (!error) return;
  if (/no space left/i.test(error))
    throw fail('disk_full', { message: 'The disk of the Docker engine is full.' });
  throw fail('unavailable', { message: `The Docker engine did not take the archive: ${error}` });
}
