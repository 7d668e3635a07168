import { chmod, lstat, mkdir, open, rename, rm, stat, symlink, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fail } from '../../src/errors/app-error.ts';
import type { Cli } from '../cli.ts';
import { Meter } from './meter.ts';
import { into, partsBelow } from './place.ts';
import { describe, get, listAll, type RemoteFile, type RemoteFiles } from './remote.ts';

const AT_ONCE = 4;

/** Copies a file or a directory of a sandbox to this machine. Nothing is written through a link that the sandbox made. */
export async function copyDown(cli: Cli, remote: RemoteFiles, from: string, to: string): Promise<void> {
  const source = from.replace(/(?<=.)\/+$/, '');
  const there = await describe(remote, source);
  if (!there) throw fail('file_not_found', { path: from });
  const isDirectory = await stat(to).then(
    (it) => it.isDirectory(),
    () => to.endsWith('/'),
  );
  const target = into(to, source, isDirectory);
  const meter = new Meter(cli.terminal, 0);
  if (there.type === 'directory') await copyTree(cli, remote, source, target, meter);
  else {
    meter.addTotal(there.size);
    await mkdir(dirname(target), { recursive: true });
    await receive(remote, { ...there, path: source }, target, meter);
  }
  meter.end(`${remote.sandbox}:${source} -> ${target}`);
}

/** Writes a file of a sandbox to stdout, or a directory as a tar archive. */
export async function streamDown(cli: Cli, remote: RemoteFiles, from: string): Promise<void> {
  const there = await describe(remote, from);
  const format = there?.type === 'directory' ? 'tar' : undefined;
  for await (const bytes of await get(remote, from, format))
    if (!cli.terminal.out.write(bytes)) await cli.terminal.out.drained();
}

async function copyTree(
  cli: Cli,
  remote: RemoteFiles,
  root: string,
  target: string,
  meter: Meter,
): Promise<void> {
  const entries = (await listAll(remote, root)).map((entry) => ({
    entry,
    parts: partsBelow(root, entry.path),
  }));
  const of = (type: RemoteFile['type']) => entries.filter(({ entry }) => entry.type === type);
  await mkdir(target, { recursive: true });
  for (const { parts } of of('directory')) await ensureDirectory(target, parts);
  const files = of('file');
  meter.addTotal(files.reduce((sum, { entry }) => sum + entry.size, 0));
  const queue = files.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const { entry, parts } of queue) {
        await ensureDirectory(target, parts.slice(0, -1));
        await receive(remote, entry, join(target, ...parts), meter);
      }
    }),
  );
  // Links and modes come last: nothing is written through the ones, or kept out by the others.
  for (const { entry, parts } of of('symlink')) {
    await ensureDirectory(target, parts.slice(0, -1));
    await makeLink(entry.target ?? '', join(target, ...parts));
  }
  for (const { entry, parts } of of('directory').reverse()) {
    await ensureDirectory(target, parts);
    await chmod(join(target, ...parts), modeOf(entry));
  }
  const others = of('other').length;
  if (others > 0) cli.terminal.note(`${others} special files were left out.`);
}

/** Makes the directories of a path below the target, each a real one. Errors: failed_precondition at a link. */
async function ensureDirectory(target: string, parts: readonly string[]): Promise<void> {
  let path = target;
  for (const part of parts) {
    path = join(path, part);
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!(await lstat(path)).isDirectory())
      throw fail('failed_precondition', { message: `${path} is there already, and no directory.` });
  }
}

/** Beside its place first, so that neither half a file nor what a link leads to is written. */
async function receive(remote: RemoteFiles, file: RemoteFile, to: string, meter: Meter): Promise<void> {
  const part = `${to}.svc-${crypto.randomUUID().slice(0, 8)}.part`;
  try {
    const out = await open(part, 'wx', 0o600);
    try {
      for await (const bytes of meter.watch(await get(remote, file.path))) await out.write(bytes);
      await out.chmod(modeOf(file));
    } finally {
      await out.close();
    }
    await rename(part, to);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function makeLink(target: string, path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there && !there.isDirectory()) await unlink(path);
  await symlink(target, path);
}

/** The mode without set-id bits: those of a sandbox mean nothing here. */
function modeOf({ mode, type }: RemoteFile): number {
  const bits = Number.parseInt(String(mode), 8) & 0o777;
  return type === 'symlink' ? 0o644 : bits;
}
