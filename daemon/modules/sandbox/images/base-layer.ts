import { chmod, lchown, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BOX_UID, type IdRange } from '../drivers/host/user-namespace.ts';

/** A file that every box has. `path` is relative to its root. */
export interface BaseFile {
  readonly path: string;
  readonly content: string | Uint8Array;
  readonly mode?: number;
}

const FOLDERS: ReadonlyArray<[path: string, mode: number]> = [
  ['', 0o755],
  ['.svc', 0o755],
  ['dev', 0o755],
  ['etc', 0o755],
  ['home', 0o755],
  ['proc', 0o555],
  ['sys', 0o555],
  ['tmp', 0o1777],
];

/** Folders that belong to the user of the box. */
const OWN_FOLDERS = ['home/svc', 'workspace'];

const HOSTS = '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n127.0.1.1\tsandbox\n';
const OWN_FILES: readonly BaseFile[] = [
  { path: 'etc/hosts', content: HOSTS },
  { path: 'etc/hostname', content: 'sandbox\n' },
  { path: 'etc/resolv.conf', content: '' },
];
const PASSWD = [
  'root:x:0:0:root:/root:/bin/sh',
  'daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin',
  'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
];
const GROUP = ['root:x:0:', 'daemon:x:1:', 'tty:x:5:', 'nogroup:x:65534:'];

/** The user of the box beside the users that an image has; an image's own user 1000 keeps its name. */
export function userFiles(passwd = `${PASSWD.join('\n')}\n`, group = `${GROUP.join('\n')}\n`): BaseFile[] {
  return [
    { path: 'etc/passwd', content: withLine(passwd, `svc:x:${BOX_UID}:${BOX_UID}:svc:/home/svc:/bin/sh`) },
    { path: 'etc/group', content: withLine(group, `svc:x:${BOX_UID}:`) },
  ];
}

function withLine(table: string, line: string): string {
  const [name, , id] = line.split(':');
  const taken = table
    .split('\n')
    .map((entry) => entry.split(':'))
    .some((parts) => parts[2] === id || parts[0] === name);
  if (taken) return table;
  return `${table}${table === '' || table.endsWith('\n') ? '' : '\n'}${line}\n`;
}

/**
 * Writes the topmost layer of an image: the places that the driver mounts on, the box's user with home and
 * workspace, the given files and what `fill` adds. Everything belongs to root inside, home and workspace to the
 * user; the daemon's umask plays no part.
 */
export async function writeBaseLayer(
  dir: string,
  range: IdRange,
  files: readonly BaseFile[],
  fill: (dir: string) => Promise<void> = async () => {},
): Promise<void> {
  for (const path of [...FOLDERS.map(([name]) => name), ...OWN_FOLDERS])
    await mkdir(join(dir, path), { recursive: true });
  for (const file of [...OWN_FILES, ...files]) await writeBaseFile(dir, file);
  await fill(dir);
  await giveTo(dir, range.base);
  for (const [path, mode] of FOLDERS) await chmod(join(dir, path), mode);
  for (const path of OWN_FOLDERS) await lchown(join(dir, path), range.base + BOX_UID, range.base + BOX_UID);
}

/** Writes one file with exactly its mode, and the folders above it. */
export async function writeBaseFile(dir: string, { path, content, mode }: BaseFile): Promise<void> {
  const to = join(dir, path);
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, content);
  await chmod(to, mode ?? 0o644);
}

/** Gives a tree that the daemon itself wrote to a user, its folders open to read; links are not followed. */
export async function giveTo(dir: string, id: number): Promise<void> {
  await lchown(dir, id, id);
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await giveTo(path, id);
    else await lchown(path, id, id);
  }
}
