import { closeSync, openSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { exists } from '../drivers/host/files.ts';
import { isMounted } from '../drivers/host/mounts.ts';
import { run } from '../drivers/host/run.ts';
import { makeOpaque, makeWhiteout, mountShifted } from '../drivers/host/syscalls.ts';
import { type IdRange, withUserNamespace } from '../drivers/host/user-namespace.ts';
import { type BaseFile, giveTo, userFiles, writeBaseFile, writeBaseLayer } from './base-layer.ts';
import { type HostFile, listHostFiles, readHostFile } from './host-files.ts';
import type { ImageMount, StoredImage } from './image.ts';

/** The reference of the image that is made of the host's own programs. */
export const HOST_IMAGE = 'host';

/** Where the image `host` keeps its layers, and for whom. */
export interface HostImageOptions {
  /** The image folder; layers are named relative to it. */
  readonly images: string;
  readonly dataDir: string;
  /** Where the shifted folders are mounted: outside the data directory, which people copy and delete. */
  readonly shiftDir: string;
  readonly range: IdRange;
  readonly files: readonly BaseFile[];
}

/** Folders at the root that hold programs and libraries: links into /usr on most hosts, folders on others. */
const PROGRAM_FOLDERS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
/** Settings of package managers below /usr that may hold a token though everybody may read them. */
const TOKEN_FILES = ['/usr/etc/npmrc', '/usr/etc/pip.conf', '/usr/etc/gitconfig'];
const SCAN_TIMEOUT_MS = 120_000;

/**
 * Makes the image `host`: a skeleton root with an allow-list from /etc, over it /usr as it is here, read-only
 * and with its owners shifted into the ids of boxes. Layers are named after their content: what boxes stand
 * on never changes under them.
 */
export async function makeHostImage(options: HostImageOptions, mask: string): Promise<StoredImage> {
  const folders = ['usr', ...(await realFolders())];
  const skeleton = await makeSkeleton(options, folders);
  const mounts: ImageMount[] = [{ target: '/', lowers: [skeleton] }];
  for (const folder of folders) {
    const lower = await shifted(options, folder);
    mounts.push({ target: `/${folder}`, lowers: folder === 'usr' ? [`${mask}/usr`, lower] : [lower] });
  }
  const id = `host:${basename(skeleton).split('-')[1]}`;
  return { info: { reference: HOST_IMAGE, id, env: {}, workDir: '/workspace' }, mounts };
}

/** Takes away the mounts of the image, and the layers that no box stands on. */
export async function releaseHostImage(
  { images, shiftDir }: Pick<HostImageOptions, 'images' | 'shiftDir'>,
  inUse: ReadonlySet<string>,
): Promise<void> {
  if (inUse.size === 0) await releaseShifted(shiftDir);
  const dir = join(images, 'host');
  for (const name of await readdir(dir).catch(() => [])) {
    const isLayer = /^(skeleton|mask)-/.test(name);
    if (isLayer && ![...inUse].some((lower) => lower.startsWith(`host/${name}`)))
      await rm(join(dir, name), { recursive: true, force: true });
  }
}

/** Nothing is deleted here but empty folders: what is mounted on them are the host's own programs. */
async function releaseShifted(shiftDir: string): Promise<void> {
  for (const name of await readdir(shiftDir).catch(() => [])) {
    const path = join(shiftDir, name);
    if (isMounted(path)) await run(['umount', path]).catch(() => run(['umount', '-l', path]));
    await rmdir(path);
  }
  await rmdir(shiftDir).catch(() => {});
}

async function realFolders(): Promise<string[]> {
  const stats = await Promise.all(PROGRAM_FOLDERS.map((name) => lstat(`/${name}`).catch(() => undefined)));
  return PROGRAM_FOLDERS.filter((_, i) => stats[i]?.isDirectory());
}

/** The lower layer of a folder of the host: an idmapped mount of it, else the folder as it is. */
async function shifted({ shiftDir, range }: HostImageOptions, folder: string): Promise<string> {
  const target = join(shiftDir, folder);
  await mkdir(target, { recursive: true });
  if (isMounted(target)) {
    if ((await lstat(target)).uid === range.base) return target;
    await run(['umount', '-l', target]);
  }
  try {
    await withUserNamespace(range, (path) => {
      const namespace = openSync(path, 'r');
      try {
        mountShifted(`/${folder}`, target, namespace, closeSync);
      } finally {
        closeSync(namespace);
      }
    });
    return target;
  } catch {
    return `/${folder}`;
  }
}

async function makeSkeleton(options: HostImageOptions, folders: readonly string[]): Promise<string> {
  const files = await listHostFiles();
  const links = await folderLinks();
  const key = JSON.stringify([files.map(({ stamp }) => stamp), links, folders, options.range, options.files]);
  const base = [...userFiles(), NAME_SERVICE, ...options.files];
  return layerOnce(options.images, `skeleton-${Bun.hash.wyhash(key).toString(16)}`, (part) =>
    writeBaseLayer(part, options.range, base, async (dir) => {
      for (const name of [...folders, ...EMPTY_FOLDERS]) await mkdir(join(dir, name), { recursive: true });
      await symlink('../run', join(dir, 'var/run'));
      for (const [name, target] of links) await symlink(target, join(dir, name));
      for (const file of files) await copyFile(file, dir);
    }).then(async () => {
      await chmod(join(part, 'var/tmp'), 0o1777);
      await chmod(join(part, 'root'), 0o700);
    }),
  );
}

const EMPTY_FOLDERS = ['mnt', 'opt', 'root', 'run', 'srv', 'var/cache', 'var/lib', 'var/log', 'var/tmp'];
const NAME_SERVICE: BaseFile = {
  path: 'etc/nsswitch.conf',
  content:
    'passwd: files\ngroup: files\nhosts: files dns\nnetworks: files\nprotocols: files\nservices: files\n',
};

async function copyFile(file: HostFile, dir: string): Promise<void> {
  const path = join('etc', file.path);
  if (file.link !== undefined) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await symlink(file.link, join(dir, path));
    return;
  }
  const content = await readHostFile('/etc', file);
  if (content) await writeBaseFile(dir, { path, content, mode: file.executable ? 0o755 : 0o644 });
}

async function folderLinks(): Promise<Array<[name: string, target: string]>> {
  const targets = await Promise.all(
    PROGRAM_FOLDERS.map((name) => readlink(`/${name}`).catch(() => undefined)),
  );
  return PROGRAM_FOLDERS.flatMap((name, i) => {
    const target = targets[i];
    return target === undefined ? [] : [[name, target] as [string, string]];
  });
}

/**
 * A layer over /usr that hides what not everybody on the host may read, because root inside could: single
 * files, /usr/local/etc, and the daemon's own data when it lies below /usr.
 */
export async function makeMask(options: HostImageOptions): Promise<string> {
  const list = await run(
    [
      'find',
      '/usr',
      '-xdev',
      '(',
      '-type',
      'f',
      '!',
      '-perm',
      '-004',
      '-o',
      '-type',
      'd',
      '!',
      '-perm',
      '-005',
      ')',
      '-print0',
      '-prune',
    ],
    { timeoutMs: SCAN_TIMEOUT_MS },
  ).catch(() => '');
  const hidden = list
    .split('\0')
    .filter((path) => path.startsWith('/usr/') && !path.startsWith('/usr/local/etc'));
  if (options.dataDir.startsWith('/usr/')) hidden.push(options.dataDir);
  for (const path of TOKEN_FILES) if (exists(path)) hidden.push(path);
  const key = JSON.stringify([hidden.sort(), options.range]);
  return layerOnce(options.images, `mask-${Bun.hash.wyhash(key).toString(16)}`, async (dir) => {
    const opaque = join(dir, 'usr/local/etc');
    await mkdir(opaque, { recursive: true });
    for (const path of hidden) {
      const to = join(dir, relative('/', path));
      await mkdir(dirname(to), { recursive: true });
      if (!exists(to)) makeWhiteout(to);
    }
    await giveTo(dir, options.range.base);
    makeOpaque(opaque);
  });
}

/** Makes a layer under a name of its own and puts it in place as a whole; a layer that is there is kept. */
async function layerOnce(
  images: string,
  name: string,
  make: (dir: string) => Promise<void>,
): Promise<string> {
  const path = join('host', name);
  const target = join(images, path);
  if (exists(target)) return path;
  const part = join(images, 'host', `.part-${crypto.randomUUID()}`);
  await mkdir(part, { recursive: true });
  try {
    await make(part);
    await rename(part, target).catch((error) => {
      if (!exists(target)) throw error;
    });
  } finally {
    await rm(part, { recursive: true, force: true });
  }
  return path;
}
