import type { Readable } from 'node:stream';
import type { ImageInspectInfo } from 'dockerode';
import { AppError, fail } from '../../../../../src/errors/app-error.ts';
import type { ImageInfo, ImageProgress } from '../driver.ts';
import { snapshotOf } from '../snapshot-reference.ts';
import { type Engine, engineError, engineMessage, hasStatus } from './engine.ts';
import { archiveKind, archiveStream, archiveTag } from './image-archive.ts';
import { pullImage } from './image-pull.ts';
import { jsonLines } from './lines.ts';
import type { Names } from './names.ts';

/** Where commands start in an image that does not say. */
export const DEFAULT_WORK_DIR = '/workspace';
const MAX_REFERENCE = 512;
const PART = '[a-zA-Z0-9]+(?:(?:[._]|__|-+)[a-zA-Z0-9]+)*';
/** `[host[:port]/]name[/name...][:tag][@digest]`: also what keeps a reference within one segment of the engine's paths. */
const REFERENCE = new RegExp(
  `^(?:${PART}(?::\\d+)?/)?${PART}(?:/${PART})*(?::\\w[\\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
);
const ARCHIVE_REPOSITORY = 'svc-archive';

type Report = (step: ImageProgress) => void;

/** Images of one engine: what is there is used as it is, a tar is brought in, anything else is pulled. */
export class Images {
  private readonly running = new Map<string, Promise<ImageInfo>>();

  constructor(
    private readonly engine: Engine,
    private readonly options: { readonly defaultImage?: string; readonly pull?: boolean },
    private readonly names: Pick<Names, 'snapshot'>,
  ) {}

  /** Errors: image_not_found, disk_full, runtime_missing, cancelled. */
  async prepare(reference: string, report: Report = () => {}, signal?: AbortSignal): Promise<ImageInfo> {
    const snapshot = snapshotOf(reference);
    const name = reference.startsWith('/') ? await this.archiveName(reference) : this.nameOf(reference);
    const there = await this.find(reference, name);
    if (there) return there;
    if (snapshot !== undefined) throw notHere(reference, 'there is no such snapshot');
    const known = this.running.get(name);
    if (known) return known.catch((error) => this.again(error, [reference, report, signal]));
    const bring = this.bring(reference, name, report, signal).finally(() => this.running.delete(name));
    this.running.set(name, bring);
    return bring;
  }

  /** Whether the default image is set and here; undefined when none is set. */
  async hasDefault(): Promise<boolean | undefined> {
    if (!this.options.defaultImage) return undefined;
    return (await this.find('host', this.nameOf('host'))) !== undefined;
  }

  /** Another caller who gave up does not make this one give up. */
  private again(
    error: unknown,
    [reference, report, signal]: [string, Report, AbortSignal?],
  ): Promise<ImageInfo> {
    const isTheirs = error instanceof AppError && error.code === 'cancelled' && !signal?.aborted;
    if (!isTheirs) throw error;
    return this.prepare(reference, report, signal);
  }

  private nameOf(reference: string): string {
    const snapshot = snapshotOf(reference);
    if (snapshot) return this.names.snapshot(snapshot);
    const name = reference === 'host' ? this.options.defaultImage : reference;
    if (name && (name.length > MAX_REFERENCE || !REFERENCE.test(name)))
      throw notHere(reference, 'it is neither a path nor a name of an image');
    if (name) return name;
    const why = 'a container engine cannot run the host itself, and no default image is set';
    throw fail('image_not_found', { image: reference, why });
  }

  private async archiveName(path: string): Promise<string> {
    return `${ARCHIVE_REPOSITORY}:${await archiveTag(path)}`;
  }

  private async find(reference: string, name: string): Promise<ImageInfo | undefined> {
    try {
      return describe(reference, await this.engine.client.getImage(name).inspect());
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      if (hasStatus(error, 400))
        throw fail('image_not_found', { image: reference, why: engineMessage(error) });
      throw engineError(error, reference);
    }
  }

  private async bring(
    reference: string,
    name: string,
    report: Report,
    signal?: AbortSignal,
  ): Promise<ImageInfo> {
    try {
      if (reference.startsWith('/')) await this.unpack(reference, name, report);
      else if (this.options.pull === false)
        throw notHere(reference, 'it is not in the engine, and pulling is off');
      else await pullImage(this.engine, name, report, signal);
    } catch (error) {
      if (hasStatus(error, 404)) throw notHere(reference, engineMessage(error));
      throw engineError(error, reference);
    }
    const image = await this.find(reference, name);
    if (!image) throw notHere(reference, 'the engine took it and does not have it');
    return image;
  }

  private async unpack(path: string, name: string, report: Report): Promise<void> {
    report({ step: 'unpack', done: 0, total: 0 });
    if ((await archiveKind(path)) === 'images') return this.load(path, name);
    const answer = await this.engine.client.importImage(await archiveStream(path), archiveNames(name));
    for await (const line of jsonLines(answer as Readable)) refuseError(path, line);
  }

  private async load(path: string, name: string): Promise<void> {
    const answer = await this.engine.client.loadImage(await archiveStream(path), { quiet: true });
    let loaded: string | undefined;
    for await (const line of jsonLines(answer as Readable)) {
      refuseError(path, line);
      const { stream = '' } = line as { stream?: string };
      loaded ??= /^Loaded image(?: ID)?: (\S+)/m.exec(stream)?.[1];
    }
    if (!loaded) throw notHere(path, 'the engine found no image in it');
    await this.engine.client.getImage(loaded).tag(archiveNames(name));
  }
}

function archiveNames(name: string) {
  return { repo: ARCHIVE_REPOSITORY, tag: name.slice(ARCHIVE_REPOSITORY.length + 1) };
}

function refuseError(reference: string, line: unknown): void {
  const { error } = line as { error?: string };
  if (!error) return;
  if (/no space left/i.test(error))
    throw fail('disk_full', { message: 'The disk of the Docker engine is full.' });
  throw notHere(reference, error);
}

function notHere(image: string, why: string) {
  return fail('image_not_found', { image, why: why.replace(/[.\s]+$/, '') });
}

function describe(reference: string, { Id: id, Config: config }: ImageInspectInfo): ImageInfo {
  const pairs = (config?.Env ?? []).map((pair) => [
    pair.split('=', 1)[0] ?? '',
    pair.slice(pair.indexOf('=') + 1),
  ]);
  return { reference, id, env: Object.fromEntries(pairs), workDir: config?.WorkingDir || DEFAULT_WORK_DIR };
}
