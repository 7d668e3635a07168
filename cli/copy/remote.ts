import type { Output } from '../../src/api/endpoint.ts';
import { sandboxFiles } from '../../src/api/sandbox/files.ts';
import { pathOf } from '../../src/client/address.ts';
import type { Client } from '../../src/client/client.ts';
import { RemoteError, readError } from '../../src/client/remote-error.ts';

/** A file as a sandbox describes it. */
export type RemoteFile = Output<typeof sandboxFiles.ListDirectory>['entries'][number];

const PAGE = 10_000;
const DEPTH = 50;

/** The files of one sandbox, over the API. */
export interface RemoteFiles {
  readonly client: Client;
  readonly sandbox: string;
}

/** What a path is, its links followed; undefined when there is nothing. */
export async function describe({ client, sandbox }: RemoteFiles, path: string) {
  try {
    const found = await client.call(sandboxFiles.GetFileInfo, {
      params: { sandboxId: sandbox },
      query: { path: [path] },
    });
    return found[path];
  } catch (error) {
    if (error instanceof RemoteError && error.code === 'file_not_found') return undefined;
    throw error;
  }
}

/** Everything below a directory, directories before what is in them. */
export async function listAll({ client, sandbox }: RemoteFiles, path: string): Promise<RemoteFile[]> {
  const all: RemoteFile[] = [];
  for (;;) {
    const { entries, total } = await client.call(sandboxFiles.ListDirectory, {
      params: { sandboxId: sandbox },
      query: { path, depth: DEPTH, offset: all.length, limit: PAGE },
    });
    all.push(...entries);
    if (entries.length === 0 || all.length >= total) return all;
  }
}

/** Writes a file, or a piece of it at an offset. */
export async function put(
  { client, sandbox }: RemoteFiles,
  query: { readonly path: string; readonly mode?: number; readonly offset?: number },
  body: BodyInit,
): Promise<void> {
  const path = pathOf(sandboxFiles.WriteFile, { params: { sandboxId: sandbox }, query });
  const headers = { 'content-type': 'application/octet-stream' };
  const response = await client.request({ method: 'PUT', path, headers, body });
  if (!response.ok) throw await readError(response);
}

/** The bytes of a file, or of a directory as a tar archive. */
export async function get(
  { client, sandbox }: RemoteFiles,
  path: string,
  format?: 'tar',
): Promise<AsyncIterable<Uint8Array>> {
  const response = await client.open(sandboxFiles.DownloadFile, {
    params: { sandboxId: sandbox },
    query: { path, format },
  });
  return response.body ?? new Blob([]).stream();
}
