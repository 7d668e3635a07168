import { AppError, invalid } from '../../../../src/errors/app-error.ts';
import { boundaryOf, type Part, readMultipart } from '../../../http/multipart/multipart.ts';
import { checkPath, readMode } from './paths.ts';

/** What is said about a file before its content. */
export interface UploadTarget {
  readonly path: string;
  readonly mode?: number;
  readonly owner?: string;
  readonly group?: string;
}

/** A file that was written. */
export interface Uploaded {
  readonly path: string;
  readonly size: number;
}

const MAX_METADATA = 64 * 1024;

/**
 * Writes the files of a multipart body in their order: for each a part `metadata` (JSON), then a part `file`.
 * Files before one that is wrong stay written. Errors: invalid_argument, malformed_body, body_too_large, and those of `write`.
 */
export async function receiveFiles(
  request: Request,
  limit: number,
  write: (target: UploadTarget, content: AsyncIterable<Uint8Array>) => Promise<number>,
): Promise<Uploaded[]> {
  const boundary = boundaryOf(request.headers.get('content-type') ?? '');
  const body = request.body ?? new Blob([]).stream();
  const uploaded: Uploaded[] = [];
  let target: UploadTarget | undefined;
  for await (const part of readMultipart(body, boundary, limit)) {
    if (part.name === 'metadata') {
      if (target)
        throw invalid({ field: 'file', description: `is missing for ${JSON.stringify(target.path)}` });
      target = readTarget(await textOf(part));
    } else if (part.name === 'file') {
      if (!target) throw invalid({ field: 'metadata', description: 'must come before each file' });
      uploaded.push({ path: target.path, size: await write(target, part.content) });
      target = undefined;
    } else throw invalid({ field: part.name, description: 'there is no such part' });
  }
  if (target || uploaded.length === 0) throw invalid({ field: 'file', description: 'is required' });
  return uploaded;
}

async function textOf({ content }: Part): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of content) {
    length += bytes.length;
    if (length > MAX_METADATA) throw invalid({ field: 'metadata', description: 'is too long' });
    parts.push(Uint8Array.from(bytes));
  }
  return Buffer.concat(parts).toString('utf8');
}

function readTarget(text: string): UploadTarget {
  const { path, mode, owner, group } = parseObject(text);
  if (typeof path !== 'string') throw invalid({ field: 'metadata.path', description: 'is required' });
  checkPath('metadata.path', path);
  return {
    path,
    mode: mode === undefined || mode === 0 ? undefined : readMode('metadata.mode', Number(mode)),
    owner: asText('metadata.owner', owner),
    group: asText('metadata.group', group),
  };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    if (error instanceof AppError) throw error;
  }
  throw invalid({ field: 'metadata', description: 'must be a JSON object' });
}

function asText(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string' && typeof value !== 'number')
    throw invalid({ field, description: 'must be a name or a number' });
  return String(value);
}
