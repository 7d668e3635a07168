import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { sandboxFiles } from '../../src/api/sandbox/files.ts';
import { invalid } from '../../src/errors/app-error.ts';
import { MIB } from '../../src/kit/bytes.ts';
import type { Cli } from '../cli.ts';
import { Meter } from './meter.ts';
import { describe, put, type RemoteFiles } from './remote.ts';

/** What one request carries: far below what the API takes, so that nothing large is sent twice. */
const PIECE = 64 * MIB;
const AT_ONCE = 4;
const DIRECTORIES_AT_ONCE = 200;

interface LocalFile {
  readonly from: string;
  readonly to: string;
  readonly size: number;
  /** The octal mode spelled as a decimal integer. */
  readonly mode: number;
}

/** Copies a file or a directory of this machine into a sandbox. Links and other kinds are left out, and counted. */
export async function copyUp(cli: Cli, from: string, remote: RemoteFiles, to: string): Promise<void> {
  const stat = await lstat(from).catch(() => undefined);
  if (!stat) throw invalid({ field: 'source', description: `there is no ${from} here` });
  const target = await targetOf(remote, from, to);
  const meter = new Meter(cli.terminal, 0);
  const found: Found = { files: [], directories: [], skipped: 0 };
  await collect(from, target, found);
  if (found.files.length === 0 && found.directories.length === 0)
    throw invalid({ field: 'source', description: `${from} is neither a file nor a directory` });
  for (let at = 0; at < found.directories.length; at += DIRECTORIES_AT_ONCE)
    await remote.client.call(sandboxFiles.CreateDirectories, {
      params: { sandboxId: remote.sandbox },
      body: Object.fromEntries(
        found.directories.slice(at, at + DIRECTORIES_AT_ONCE).map(({ to, mode }) => [to, { mode }]),
      ),
    });
  meter.addTotal(found.files.reduce((sum, { size }) => sum + size, 0));
  const queue = found.files.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const file of queue) await sendFile(remote, file, meter);
    }),
  );
  meter.end(`${from} -> ${remote.sandbox}:${target}`);
  if (found.skipped > 0) cli.terminal.note(`${found.skipped} links and special files were left out.`);
}

/** Copies a stream of unknown length into a file of a sandbox. */
export async function streamUp(cli: Cli, stream: AsyncIterable<Uint8Array>, remote: RemoteFiles, to: string) {
  const meter = new Meter(cli.terminal, 0);
  await sendPieces(remote, { to, mode: undefined }, piecesOf(meter.watch(stream)));
  meter.end(`${remote.sandbox}:${to}`);
}

async function targetOf(remote: RemoteFiles, from: string, to: string): Promise<string> {
  const bare = to.replace(/(?<=.)\/+$/, '');
  const there = await describe(remote, bare);
  const isDirectory = to.endsWith('/') || there?.type === 'directory';
  return isDirectory ? `${bare === '/' ? '' : bare}/${basename(await absolute(from))}` : bare;
}

/** A name for `.` and `..` too. */
async function absolute(path: string): Promise<string> {
  const { resolve } = await import('node:path');
  return resolve(path);
}

interface Found {
  readonly files: LocalFile[];
  readonly directories: Array<{ readonly to: string; readonly mode: number }>;
  skipped: number;
}

async function collect(from: string, to: string, found: Found): Promise<void> {
  const stat = await lstat(from);
  const mode = Number((stat.mode & 0o7777).toString(8));
  if (stat.isFile()) found.files.push({ from, to, size: stat.size, mode });
  else if (!stat.isDirectory()) found.skipped++;
  else {
    found.directories.push({ to, mode });
    for (const name of (await readdir(from)).sort()) await collect(join(from, name), `${to}/${name}`, found);
  }
}

async function sendFile(remote: RemoteFiles, file: LocalFile, meter: Meter): Promise<void> {
  const bytes = Bun.file(file.from);
  if (file.size <= PIECE) {
    await put(remote, { path: file.to, mode: file.mode }, bytes);
    meter.add(file.size);
    return;
  }
  const pieces = async function* () {
    for (let at = 0; at < file.size; at += PIECE) {
      const piece = bytes.slice(at, at + PIECE);
      yield piece;
      meter.add(piece.size);
    }
  };
  await sendPieces(remote, file, pieces());
}

/** Piece after piece beside the target, which takes the target's place when it is whole. */
async function sendPieces(
  remote: RemoteFiles,
  { to, mode }: { readonly to: string; readonly mode: number | undefined },
  pieces: AsyncIterable<Blob | Uint8Array<ArrayBuffer>>,
): Promise<void> {
  const part = `${to}.svc-${crypto.randomUUID().slice(0, 8)}.part`;
  const params = { sandboxId: remote.sandbox };
  let offset = 0;
  try {
    for await (const piece of pieces) {
      await put(remote, offset === 0 ? { path: part, mode } : { path: part, offset }, piece);
      offset += piece instanceof Blob ? piece.size : piece.length;
    }
    if (offset === 0) await put(remote, { path: part, mode }, '');
    await remote.client.call(sandboxFiles.MoveFiles, { params, body: [{ src: part, dest: to }] });
  } catch (error) {
    await remote.client
      .call(sandboxFiles.DeleteFiles, { params, body: { paths: [part] } })
      .catch(() => undefined);
    throw error;
  }
}

async function* piecesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let kept: Uint8Array[] = [];
  let length = 0;
  for await (const part of bytes) {
    kept.push(part);
    length += part.length;
    if (length < PIECE) continue;
    yield Buffer.concat(kept);
    kept = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(kept);
}
