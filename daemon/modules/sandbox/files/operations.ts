import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { limited } from '../../../http/multipart/limited.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { type DownloadRequest, download } from './download.ts';
import { makeDirectories, NO_OWNER, type Owner } from './make.ts';
import { type Move, moveAll } from './move.ts';
import { bare, checkPath, isRoot } from './paths.ts';
import { readBytes } from './read.ts';
import { E, fileError } from './remote/errno.ts';
import type { RemoteFiles } from './remote/files.ts';
import { type Outcome, type Replacement, replaceBelow, replaceIn } from './replace.ts';
import { type Matches, type Narrowing, searchContents } from './search.ts';
import { BOX_ROOT, type BoxUser } from './servers.ts';
import type { FilesService } from './service.ts';
import { MAX_DEPTH, removeTree } from './tree.ts';
import { receiveFiles, type Uploaded, type UploadTarget } from './upload.ts';
import { type Found, walk } from './walk.ts';
import { describeFiles } from './wire.ts';
import { type Lanes, writeFile } from './write.ts';

/** What may be done with a path, as a caller asks for it. */
export interface Permission {
  readonly mode?: number;
  readonly owner?: string;
  readonly group?: string;
}

/** Whose sandbox, and which. */
export interface Where {
  readonly tenant: string;
  readonly sandbox: string;
}

/** The most names that a listing or a search looks at. */
const MAX_ENTRIES = 100_000;
const MAX_SEARCHED = 1_000_000;
const MAX_FOUND = 1_000;
/** Files up to this come in one round trip. */
const SMALL = 128 * 1024;

/**
 * What the API does with the files of a sandbox. Work is done as the box's own user; what asks for an owner or a group is
 * done as root inside. Errors of all: sandbox_not_found, sandbox_wrong_state, invalid_argument naming the
 * path, unavailable, and those of the files.
 */
export class FileOperations {
  constructor(
    private readonly service: FilesService,
    private readonly driver: SandboxDriver,
    private readonly lifecycle: LifecycleService,
  ) {}

  /** Describes paths; a link is itself. */
  async info(where: Where, paths: readonly string[]) {
    for (const path of paths) checkPath('path', path);
    const files = await this.files(where);
    const found = await Promise.all(
      paths.map(async (path) => ({ path, stat: await files.lstat(bare(path)) })),
    );
    return this.describe(where, files, found);
  }

  /** What is in a directory and, with `depth`, in those below: sorted by path. */
  async list(where: Where, path: string, depth: number, page: { offset: number; limit: number }) {
    checkPath('path', path);
    const files = await this.files(where);
    const found: Found[] = [];
    for await (const part of walk(files, bare(path), { depth })) {
      found.push(...part);
      if (found.length > MAX_ENTRIES)
        throw fail('resource_exhausted', { message: `More than ${MAX_ENTRIES} entries are there.` });
    }
    found.sort((a, b) => (a.path < b.path ? -1 : 1));
    const shown = found.slice(page.offset, page.offset + page.limit);
    return { entries: await this.describe(where, files, shown), total: found.length };
  }

  /** Finds names by a glob: of the whole path below the directory when it has a slash, else of the name alone. */
  async find(where: Where, path: string, pattern: string, signal: AbortSignal) {
    checkPath('path', path);
    const files = await this.files(where);
    const [root, glob] = [bare(path), new Bun.Glob(pattern)];
    const isPath = pattern.includes('/');
    const start = root === '/' ? 1 : root.length + 1;
    const found: Found[] = [];
    let seen = 0;
    for await (const part of walk(files, root, { depth: MAX_DEPTH, signal })) {
      seen += part.length;
      for (const one of part) {
        const name = isPath ? one.path.slice(start) : one.path.slice(one.path.lastIndexOf('/') + 1);
        if (glob.match(name)) found.push(one);
      }
      if (found.length >= MAX_FOUND || seen >= MAX_SEARCHED) break;
    }
    const isCut = found.length >= MAX_FOUND || seen >= MAX_SEARCHED;
    return { files: await this.describe(where, files, found.slice(0, MAX_FOUND)), isCut };
  }

  /** Removes files and links. Nothing is removed when one is missing or a directory. */
  async removeFiles(where: Where, paths: readonly string[]): Promise<void> {
    await this.remove(where, paths, 'file', (files, path) => files.remove(path));
  }

  /** Removes directories and what is in them. Nothing is removed when one is missing or no directory. */
  async removeDirectories(where: Where, paths: readonly string[]): Promise<void> {
    for (const path of paths)
      if (isRoot(path)) throw invalid({ field: 'paths', description: 'the root cannot be removed' });
    await this.remove(where, paths, 'directory', removeTree);
  }

  async makeDirectories(where: Where, wanted: ReadonlyMap<string, Permission>): Promise<void> {
    checkPaths([...wanted.keys()]);
    for (const [path, permission] of wanted) {
      const { user, owner } = await this.actor(where, path, permission);
      const files = await this.files(where, user);
      const isNew = await makeDirectories(files, path, permission.mode, owner);
      if (!isNew) await this.permit(files, path, permission.mode, owner);
    }
  }

  /** Sets owners, groups and modes. Nothing is changed when a path is missing. */
  async setPermissions(where: Where, wanted: ReadonlyMap<string, Permission>): Promise<void> {
    checkPaths([...wanted.keys()]);
    const files = await this.files(where);
    for (const path of wanted.keys()) await files.stat(path);
    for (const [path, permission] of wanted) {
      const { user, owner } = await this.actor(where, path, permission);
      await this.permit(await this.files(where, user), path, permission.mode, owner);
    }
  }

  async move(where: Where, moves: readonly Move[]): Promise<void> {
    for (const { src, dest } of moves) {
      checkPath('src', src);
      checkPath('dest', dest);
    }
    await moveAll(await this.files(where), moves);
  }

  async replace(
    where: Where,
    wanted: Readonly<Record<string, Replacement>>,
  ): Promise<Record<string, number>> {
    checkPaths(Object.keys(wanted));
    return replaceIn(await this.lanes(where), wanted);
  }

  async replaceBelow(
    where: Where,
    path: string,
    replacement: Replacement,
    options: { dryRun: boolean; signal: AbortSignal },
  ): Promise<Outcome[]> {
    checkPath('path', path);
    return replaceBelow(await this.lanes(where), bare(path), replacement, options);
  }

  async search(
    where: Where,
    query: { path: string; pattern: string; narrow?: Narrowing },
    signal: AbortSignal,
  ): Promise<Matches> {
    checkPath('path', query.path);
    if (/[\0\n]/.test(query.pattern))
      throw invalid({ field: 'pattern', description: 'must be one line without NUL characters' });
    const { kind } = await (await this.files(where)).stat(query.path);
    if (kind === 'other') throw fileError(E.INVAL, query.path);
    return searchContents(this.driver, this.lifecycle.running(where.tenant, where.sandbox).id, query, signal);
  }

  /** Writes the files of a multipart body. */
  async upload(where: Where, request: Request, limit: number): Promise<Uploaded[]> {
    this.lifecycle.running(where.tenant, where.sandbox);
    return receiveFiles(request, limit, (target, content) => this.write(where, target, content));
  }

  /** Writes one file from a body; with an offset, into the file that is there. Answers how much was written. */
  async put(
    where: Where,
    target: UploadTarget,
    offset: number | undefined,
    body: ReadableStream<Uint8Array> | null,
    limit: number,
  ): Promise<number> {
    checkPath('path', target.path);
    const content = limited(body, limit);
    if (offset === undefined) return this.write(where, target, content);
    const { user } = await this.actor(where, target.path, target);
    const file = await (await this.files(where, user, 'large')).open(target.path, { write: true });
    try {
      let size = 0;
      for await (const bytes of content) {
        await file.write(offset + size, bytes);
        size += bytes.length;
      }
      return size;
    } finally {
      await file.close();
    }
  }

  /** Writes a whole file from what another part of the daemon has. Answers its size. */
  async writeWhole(where: Where, path: string, content: AsyncIterable<Uint8Array>): Promise<number> {
    checkPath('path', path);
    return this.write(where, { path }, content);
  }

  /** The bytes of a file from its beginning. Errors: file_not_found, is_a_directory, file_denied, file_failed. */
  async *read(where: Where, path: string): AsyncGenerator<Uint8Array> {
    checkPath('path', path);
    const lanes = await this.lanes(where);
    const { stat, bytes } = await lanes.small.peek(path, SMALL);
    if (stat.kind !== 'file') throw fileError(stat.kind === 'directory' ? E.ISDIR : E.INVAL, path);
    if (bytes.length === stat.size && bytes.length < SMALL) {
      yield bytes;
      return;
    }
    const file = await (await lanes.large()).open(path, { read: true });
    try {
      yield* readBytes(file, { start: 0 });
    } finally {
      await file.close();
    }
  }

  async download(where: Where, request: DownloadRequest): Promise<Response> {
    checkPath('path', request.path);
    return download(await this.lanes(where), request);
  }

  private async write(
    where: Where,
    target: UploadTarget,
    content: AsyncIterable<Uint8Array>,
  ): Promise<number> {
    const { user, owner } = await this.actor(where, target.path, target);
    const file = { path: target.path, mode: target.mode, owner };
    return writeFile(await this.lanes(where, user), file, content);
  }

  /** Whose work it is, and the ids that were asked for. */
  private async actor(
    where: Where,
    path: string,
    permission: Permission,
  ): Promise<{ user?: BoxUser; owner: Owner }> {
    if (!permission.owner && !permission.group) return { owner: NO_OWNER };
    const accounts = this.service.accountsOf(where.tenant, where.sandbox);
    const owner = await accounts.idsOf(await this.files(where), path, permission);
    return { user: BOX_ROOT, owner };
  }

  /** On what a link leads to. */
  private async permit(
    files: RemoteFiles,
    path: string,
    mode: number | undefined,
    owner: Owner,
  ): Promise<void> {
    const target = await files.realPath(path);
    if (owner.uid !== -1 || owner.gid !== -1) await files.setOwner(target, owner.uid, owner.gid);
    if (mode !== undefined) await files.setMode(target, mode);
  }

  private async remove(
    where: Where,
    paths: readonly string[],
    kind: 'file' | 'directory',
    removeOne: (files: RemoteFiles, path: string) => Promise<void>,
  ): Promise<void> {
    if (paths.length === 0) throw invalid({ field: 'paths', description: 'is required' });
    for (const path of paths) checkPath('paths', path);
    const files = await this.files(where);
    for (const path of paths) {
      const isDirectory = (await files.lstat(bare(path))).kind === 'directory';
      if (isDirectory !== (kind === 'directory')) throw fileError(isDirectory ? E.ISDIR : E.NOTDIR, path);
    }
    for (const path of paths) await removeOne(files, bare(path));
  }

  private describe({ tenant, sandbox }: Where, files: RemoteFiles, found: readonly Found[]) {
    return describeFiles(files, this.service.accountsOf(tenant, sandbox), found);
  }

  private files({ tenant, sandbox }: Where, user?: BoxUser, lane?: 'large'): Promise<RemoteFiles> {
    return this.service.shared(tenant, sandbox, user, lane);
  }

  private async lanes(where: Where, user?: BoxUser): Promise<Lanes> {
    return { small: await this.files(where, user), large: () => this.files(where, user, 'large') };
  }
}

/** The paths of a body that maps them. Errors: invalid_argument, also when there are none. */
function checkPaths(paths: readonly string[]): void {
  if (paths.length === 0) throw invalid({ field: 'body', description: 'names no path' });
  for (const path of paths) checkPath('path', path);
}
