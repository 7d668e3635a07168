import { fail } from '../../../../src/errors/app-error.ts';
import { archive } from './archive.ts';
import type { BoxFile, FileStat } from './box-files.ts';
import { type LineWindow, selectLines } from './lines.ts';
import { bare, nameOf } from './paths.ts';
import { readRange } from './range.ts';
import { bodyOf, readBytes } from './read.ts';
import { E, fileError } from './remote/errno.ts';
import type { RemoteFiles } from './remote/files.ts';
import type { Lanes } from './write.ts';

/** Files up to this come in one round trip. */
const SMALL = 128 * 1024;

/** What of a file is wanted. */
export interface DownloadRequest {
  readonly path: string;
  readonly lines?: LineWindow;
  /** A directory as an archive. */
  readonly tar: boolean;
  readonly range: string | null;
  readonly ifNoneMatch: string | null;
  readonly signal: AbortSignal;
}

/**
 * Answers a file, some of its bytes or lines, or a directory as a tar archive.
 * Errors: file_not_found, is_a_directory, not_a_directory, file_denied, file_failed.
 */
export async function download(lanes: Lanes, request: DownloadRequest): Promise<Response> {
  const { path } = request;
  if (request.tar) return downloadTree(await lanes.large(), bare(path), request.signal);
  const { stat, bytes } = await lanes.small.peek(path, SMALL);
  if (stat.kind !== 'file') throw fileError(stat.kind === 'directory' ? E.ISDIR : E.INVAL, path);
  const headers = headersOf(path, stat);
  if (request.ifNoneMatch === headers.etag) return new Response(null, { status: 304, headers });
  const isWhole = bytes.length === stat.size && bytes.length < SMALL;
  const content: Content = isWhole
    ? { bytes }
    : { file: await (await lanes.large()).open(path, { read: true }) };
  if (request.lines) return answerLines(content, request.lines, headers);
  return answerBytes(content, stat.size, request.range, headers);
}

type Content = { readonly bytes: Uint8Array } | { readonly file: BoxFile };

async function answerLines(
  content: Content,
  lines: LineWindow,
  headers: Record<string, string>,
): Promise<Response> {
  const type = { ...headers, 'content-type': 'text/plain; charset=utf-8' };
  const body = await streamOf(content, (bytes) => selectLines(bytes, lines));
  return new Response(body, { headers: type });
}

async function answerBytes(
  content: Content,
  size: number,
  header: string | null,
  headers: Record<string, string>,
): Promise<Response> {
  // What is made as it is read says nothing of its size.
  const range = size === 0 ? undefined : readRange(header, size);
  if (range === 'none') {
    if ('file' in content) await content.file.close();
    throw fail('range_not_satisfiable', { size });
  }
  if (!range) {
    if ('bytes' in content) return new Response(Buffer.from(content.bytes), { headers });
    return new Response(await streamOf(content), { headers });
  }
  const { start, end } = range;
  const partial = {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${start}-${end - 1}/${size}` },
  };
  if ('bytes' in content) return new Response(Buffer.from(content.bytes.subarray(start, end)), partial);
  return new Response(await bodyOf(readBytes(content.file, range), () => content.file.close()), partial);
}

function streamOf(
  content: Content,
  select: (bytes: AsyncGenerator<Uint8Array>) => AsyncGenerator<Uint8Array> = (bytes) => bytes,
): Promise<ReadableStream<Uint8Array>> {
  if ('bytes' in content) return bodyOf(select(once(content.bytes)));
  return bodyOf(select(readBytes(content.file, { start: 0 })), () => content.file.close());
}

async function downloadTree(files: RemoteFiles, path: string, signal: AbortSignal): Promise<Response> {
  const { kind } = await files.stat(path);
  if (kind !== 'directory') throw fileError(E.NOTDIR, path);
  const headers = {
    'content-type': 'application/x-tar',
    'content-disposition': disposition(`${nameOf(path) || 'root'}.tar`),
  };
  return new Response(await bodyOf(archive(files, path, signal)), { headers });
}

function headersOf(path: string, { inode, size, modifiedAt }: FileStat): Record<string, string> {
  return {
    'content-type': 'application/octet-stream',
    'content-disposition': disposition(nameOf(path)),
    'accept-ranges': 'bytes',
    // Streams go without Content-Length: this is how much the whole file is.
    'x-svc-size': String(size),
    etag: `"${inode}-${size}-${modifiedAt}"`,
    'last-modified': new Date(modifiedAt).toUTCString(),
  };
}

/** Always to be kept, never to be shown: what a sandbox has written is not ours (RFC 6266). */
function disposition(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
