import { readFileSync } from 'node:fs';
import { invalid } from '../../../src/errors/app-error.ts';
import { readStdin } from '../../ui/prompt.ts';

/** A request as the command line describes it. */
export interface DescribedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The parts of it on the command line. */
export interface RequestWords {
  readonly method: string;
  readonly path: string;
  /** The body; `@file` and `-` name where it is. */
  readonly data?: string;
  readonly query?: readonly string[];
  readonly header?: readonly string[];
}

/** Puts a request together. Errors: invalid_argument naming the part that is wrong. */
export async function describeRequest(words: RequestWords): Promise<DescribedRequest> {
  const { method, path, query = [], header = [] } = words;
  if (!/^[a-z]+$/i.test(method))
    throw invalid({ field: 'method', description: 'must be a word such as GET' });
  if (!path.startsWith('/')) throw invalid({ field: 'path', description: 'must begin with a slash' });
  const body = words.data === undefined ? undefined : await readData(words.data);
  const search = new URLSearchParams(query.map((text) => split(text, '=', 'query')));
  const joined = query.length > 0 ? `${path}${path.includes('?') ? '&' : '?'}${search}` : path;
  return {
    method: method.toUpperCase(),
    path: joined,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...Object.fromEntries(header.map((text) => headerOf(split(text, ':', 'header')))),
    },
    body,
  };
}

async function readData(data: string): Promise<string> {
  if (data === '-') return readStdin();
  if (!data.startsWith('@')) return data;
  try {
    return readFileSync(data.slice(1), 'utf8');
  } catch {
    throw invalid({ field: '--data', description: `cannot read ${data.slice(1)}` });
  }
}

function split(text: string, separator: string, field: string): [string, string] {
  const at = text.indexOf(separator);
  if (at < 1) throw invalid({ field: `--${field}`, description: `must have the form NAME${separator}VALUE` });
  return [text.slice(0, at), text.slice(at + 1)];
}

function headerOf([name, value]: [string, string]): [string, string] {
  return [name.trim().toLowerCase(), value.trim()];
}
