import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { invalid } from '../../../src/errors/app-error.ts';
import { readFileOrStdin } from '../gateway/config/section.ts';
import { objectIn } from './document.ts';

type Json = Record<string, unknown>;

/** Which agent of a file is meant, and what of it is to be another. */
export interface OpencodeWishes {
  readonly agent?: string;
  readonly name?: string;
  readonly model?: string;
}

/**
 * Reads an agent of opencode as the API takes it: out of JSON (comments are fine), or of Markdown with a heading, whose
 * name is that of its file. Errors: invalid_argument.
 */
export async function readOpencode(file: string, { agent, ...wishes }: OpencodeWishes): Promise<Json> {
  const text = await readFileOrStdin(file);
  const heading = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text);
  const document = heading ? fromMarkdown(heading, file) : fromJson(text, file);
  const one = agent === undefined ? document : chosen(document, agent);
  return change(one, (body) => {
    const { prompt } = body;
    const own = Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined));
    return { ...body, ...(typeof prompt === 'string' ? { prompt: withFiles(prompt, file) } : {}), ...own };
  });
}

function fromMarkdown([, heading = '', prompt = '']: RegExpExecArray, file: string): Json {
  const name = file === '-' ? undefined : basename(file, extname(file));
  return {
    ...(name === undefined ? {} : { name }),
    ...objectIn(heading || '{}', file),
    prompt: prompt.trim(),
  };
}

function fromJson(text: string, file: string): Json {
  try {
    const value: unknown = Bun.JSONC.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Said below: what is no JSON is no object either.
  }
  throw invalid({ field: file, description: 'must be a JSON object, or Markdown with a heading' });
}

function chosen(document: Json, name: string): Json {
  const agents = isObject(document.agent) ? document.agent : {};
  if (!Object.hasOwn(agents, name))
    throw invalid({
      field: '--agent',
      description: `must be one of ${Object.keys(agents).join(', ') || 'none'}`,
    });
  return { ...document, agent: { [name]: agents[name] } };
}

/** Changes the agents of a document, which are in it or are it. */
function change(document: Json, work: (agent: Json) => Json): Json {
  if (!isObject(document.agent)) return work(document);
  const agents = Object.entries(document.agent).map(([name, body]) => [
    name,
    isObject(body) ? work(body) : body,
  ]);
  return { ...document, agent: Object.fromEntries(agents) };
}

/**
 * Puts the texts of files where a prompt refers to them, as opencode does, but only of files below the document or below
 * the current directory: whoever wrote the document may be a stranger.
 */
function withFiles(prompt: string, file: string): string {
  const roots = [file === '-' ? '.' : dirname(file), '.'].map((root) => realpathSync(root));
  return prompt.replace(/\{file:([^}]+)\}/g, (_, path: string) => {
    const at = resolve(roots[0] ?? '.', path.trim());
    try {
      const real = realpathSync(at);
      if (roots.some((root) => real.startsWith(`${root}/`))) return readFileSync(real, 'utf8').trim();
    } catch {
      throw invalid({ field: 'prompt', description: `cannot read ${at}` });
    }
    throw invalid({ field: 'prompt', description: `is in ${at}, which is not below the current directory` });
  });
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
