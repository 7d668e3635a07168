import { existsSync, renameSync } from 'node:fs';
import { lchown, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fail } from '../../../../../../src/errors/app-error.ts';
import type { BoxSpec } from '../../driver.ts';
import { errnoOf } from '../../host/files.ts';
import { readHead, readPacked, writePacked } from '../../host/packed-file.ts';
import { findProgram, HOST_ENV, HostCommandError, textOf } from '../../host/run.ts';
import { makeOpaque } from '../../host/syscalls.ts';
import { asRootOf, withUserNamespace } from '../../host/user-namespace.ts';
import { asHostFailure } from '../box/errors.ts';
import type { Host } from '../box/host.ts';
import { boxPaths } from '../box/paths.ts';
import { type BoxRecord, writeRecord } from '../box/record.ts';
import { holdLayers } from './holds.ts';
import { flushTree, opaqueFolders, removeTrees } from './tree.ts';

const COMMON = ['--format=posix', '--xattrs', '--xattrs-include=*', '--numeric-owner', '--sparse'];
const PACK = ['tar', '--create', ...COMMON, '--file=-', '--'] as const;
const UNPACK = ['tar', '--extract', ...COMMON, '--preserve-permissions', '--same-owner', '--file=-'] as const;

/** What stands at the head of an archive. */
interface Head {
  readonly version: 1;
  readonly record: BoxRecord;
  /** Folders that hide what lies under them, in base64: names need not be text. */
  readonly opaque: readonly string[];
}

/**
 * Packs what a stopped box has changed. The layers that it stands on are held as long as the file is there.
 * It is packed as root of a user namespace sees it: with the ids that are used inside. Gives the size of the file.
 */
export async function archiveBox(host: Host, dir: string, record: BoxRecord, file: string): Promise<number> {
  const { upper } = boxPaths(dir);
  try {
    const opaque = (await opaqueFolders(upper)).map((path) => Buffer.from(path).toString('base64'));
    const head: Head = { version: 1, record, opaque };
    holdLayers(host, { file, box: record.id, layers: record.layers });
    await lchown(upper, host.range.base, host.range.base);
    const names = await readdir(upper);
    return await withUserNamespace(host.range, (namespace) =>
      writePacked(file, head, Readable.from(packed(namespace, upper, names))),
    );
  } catch (error) {
    throw asHostFailure(error, 'Archiving the sandbox');
  }
}

/**
 * Makes the stopped box of an archive, in its place as a whole. What the box made is unpacked by a process that is
 * root of a user namespace only: on this host it is an id that owns nothing but the new folder, and the folders
 * above are closed to it.
 */
export async function unarchiveBox(host: Host, dir: string, spec: BoxSpec, file: string): Promise<void> {
  const part = join(host.layout.boxes, `.trash-${crypto.randomUUID()}`);
  try {
    const { record, opaque } = headOf(file);
    const { upper } = boxPaths(part);
    await mkdir(part, { recursive: true, mode: 0o700 });
    await mkdir(upper, { mode: 0o700 });
    await lchown(upper, host.range.base, host.range.base);
    await withUserNamespace(host.range, (namespace) => unpack(namespace, upper, file));
    for (const path of opaque)
      makeOpaque(Buffer.concat([Buffer.from(`${upper}/`), Buffer.from(path, 'base64')]));
    const { limits, network } = spec;
    writeRecord(part, { ...record, id: spec.id, limits, network, phase: 'made', maker: undefined });
    await flushTree(part);
    renameSync(part, dir);
  } catch (error) {
    await removeTrees(part).catch(() => {});
    if (errnoOf(error) === 'ENOENT' && !existsSync(file))
      throw fail('not_found', { what: 'archive', id: file });
    throw asHostFailure(error, 'Restoring the sandbox');
  }
}

function headOf(file: string): Head {
  const head = readHead(file) as Head;
  if (head.version !== 1) throw new Error(`${file} is an archive of a later version`);
  return head;
}

async function* packed(namespace: string, dir: string, names: readonly string[]): AsyncGenerator<Uint8Array> {
  const tar = spawnTar(asRootOf(namespace, [...PACK, ...names]), dir, 'ignore', 'pipe');
  const said = textOf(tar.stderr);
  try {
    yield* tar.stdout;
    const code = await tar.exited;
    if (code !== 0) throw new HostCommandError('tar', code, await said);
  } finally {
    tar.kill('SIGKILL');
  }
}

async function unpack(namespace: string, dir: string, file: string): Promise<void> {
  const tar = spawnTar(asRootOf(namespace, UNPACK), dir, 'pipe', 'ignore');
  const said = textOf(tar.stderr);
  const broken = await pour(readPacked(file), tar.stdin).catch((error: unknown) => error);
  if (broken) tar.kill('SIGKILL');
  const code = await tar.exited;
  // A pipe that broke tells less than the program that closed it.
  if (broken && errnoOf(broken) !== 'EPIPE') throw broken;
  if (code !== 0) throw new HostCommandError('tar', code, await said);
}

async function pour(content: Readable, to: Bun.FileSink): Promise<void> {
  for await (const piece of content) {
    to.write(piece as Uint8Array);
    await to.flush();
  }
  await to.end();
}

function spawnTar<In extends 'ignore' | 'pipe', Out extends 'ignore' | 'pipe'>(
  [program, ...rest]: readonly [string, ...string[]],
  cwd: string,
  stdin: In,
  stdout: Out,
) {
  const path = findProgram(program);
  if (!path) throw new HostCommandError(program, 127, 'not installed');
  return Bun.spawn([path, ...rest], { env: { ...HOST_ENV }, cwd, stdio: [stdin, stdout, 'pipe'] });
}
