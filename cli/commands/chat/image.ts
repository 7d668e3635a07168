import { readFile } from 'node:fs/promises';
import { invalid } from '../../../src/errors/app-error.ts';

/** What models take as pictures, by how such files begin. */
const KINDS: ReadonlyArray<readonly [type: string, begins: RegExp]> = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
];
const MOST_BYTES = 20 * 1024 * 1024;
const HEAD = 16;

/** A file as the address of a picture (RFC 2397); an https address as it is. Errors: invalid_argument. */
export async function readImage(path: string): Promise<string> {
  if (/^https?:\/\//.test(path)) return path;
  const wrong = (description: string) => invalid({ field: 'image', description: `${path} ${description}` });
  const bytes = await readFile(path).catch((error: Error) => {
    throw wrong(`cannot be read: ${error.message}`);
  });
  const head = bytes.toString('latin1', 0, HEAD);
  const type = KINDS.find(([, begins]) => begins.test(head))?.[0];
  if (!type) throw wrong('is no PNG, JPEG, GIF or WebP picture');
  if (bytes.length > MOST_BYTES) throw wrong('is larger than 20 MB');
  return `data:${type};base64,${bytes.toString('base64')}`;
}
