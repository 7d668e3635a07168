import type { Document, LineCounter } from 'yaml';
import { AppError, invalid } from '../../../../src/errors/app-error.ts';
import { type ProviderBlock, readBlock } from '../block.ts';
import { MOST_PROVIDERS } from '../inputs.ts';
import { masked } from '../mask.ts';
import type { OwnKey, OwnProvider } from '../own-providers.ts';

const MOST_CHARS = 256 * 1024;

/** A text with the providers that it describes, and where their fields stand in it. */
export interface ProviderDocument {
  readonly blocks: readonly ProviderBlock[];
  /** Does work on the blocks. An error that names a field of them also says its line. */
  telling<T>(work: () => T): T;
}

/**
 * Reads YAML of the form `providers: {<name>: {base_url, keys, models, settings, dialect}}`. `source` names the text in
 * errors. Errors: invalid_argument naming the field and the line; a key is never repeated.
 */
export async function readDocument(text: string, source: string): Promise<ProviderDocument> {
  if (text.length > MOST_CHARS)
    throw invalid({ field: source, description: `must have at most ${MOST_CHARS} characters` });
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw invalid({
      field: source,
      description: `is not YAML: ${error.message.split(':')[0]} (line ${line}, column ${col})`,
    });
  }
  const telling = <T>(work: () => T): T => {
    try {
      return work();
    } catch (thrown) {
      throw withLine(thrown, document, lines, yaml.isNode);
    }
  };
  return { blocks: telling(() => readBlocks(asValue(document, source), source)), telling };
}

/** The providers of a tenant in that form, keys masked. */
export function renderDocument(providers: readonly OwnProvider[]): string {
  const blocks = providers.map(({ row, keys }) => [
    row.name,
    {
      ...(row.dialect === '' ? {} : { dialect: row.dialect }),
      ...(row.baseUrl === '' ? {} : { base_url: row.baseUrl }),
      ...(row.models.length === 0 ? {} : { models: row.models }),
      ...(Object.keys(row.settings).length === 0 ? {} : { settings: row.settings }),
      ...(keys.length === 0 ? {} : { keys: keys.map(renderKey) }),
    },
  ]);
  return `${Bun.YAML.stringify({ providers: Object.fromEntries(blocks) }, null, 2).trimEnd()}\n`;
}

function renderKey({ row: { name, variable, weight, isActive }, secret }: OwnKey) {
  return {
    name,
    api_key: variable === null ? masked(secret) : `env:${variable}`,
    ...(weight === 1 ? {} : { weight }),
    ...(isActive ? {} : { active: false }),
  };
}

/** Values of the document. Aliases could make a small text a large value, so there are none. */
function asValue(document: Document, source: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 }) ?? {};
  } catch {
    throw invalid({ field: source, description: 'must not have aliases' });
  }
}

function readBlocks(root: unknown, source: string): ProviderBlock[] {
  if (typeof root !== 'object' || root === null || Array.isArray(root))
    throw invalid({ field: source, description: 'must be a mapping with providers' });
  const unknown = Object.keys(root).find((name) => name !== 'providers');
  if (unknown !== undefined)
    throw invalid({ field: unknown, description: 'there is no such field; the only one is providers' });
  const { providers = {} } = root as { providers?: unknown };
  if (typeof providers !== 'object' || Array.isArray(providers))
    throw invalid({ field: 'providers', description: 'must be a mapping by name' });
  const entries = Object.entries(providers ?? {});
  if (entries.length > MOST_PROVIDERS)
    throw invalid({ field: 'providers', description: `must be at most ${MOST_PROVIDERS}` });
  return entries.map(([name, given]) => readBlock(name, given));
}

function withLine(
  thrown: unknown,
  document: Document,
  lines: LineCounter,
  isNode: (value: unknown) => boolean,
): unknown {
  const violation = thrown instanceof AppError ? thrown.violations[0] : undefined;
  if (!violation) return thrown;
  const at = positionOf(document, violation.field, isNode);
  if (at === undefined) return thrown;
  const { line } = lines.linePos(at);
  return invalid({ ...violation, description: `${violation.description} (line ${line})` });
}

/** Where a field stands, or else the nearest thing around it that does. Names may have dots in them. */
function positionOf(
  document: Document,
  field: string,
  isNode: (value: unknown) => boolean,
): number | undefined {
  let found: number | undefined;
  let path: string[] = [];
  let pending = '';
  for (const part of field.split('.')) {
    pending = pending === '' ? part : `${pending}.${part}`;
    const index = /^\d+$/.test(pending) ? Number(pending) : pending;
    const node = document.getIn([...path, index], true);
    if (node === undefined) continue;
    path = [...path, pending];
    pending = '';
    const range = isNode(node) ? (node as { range?: readonly number[] | null }).range : undefined;
    found = range?.[0] ?? found;
  }
  return found;
}
