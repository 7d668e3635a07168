import { readFileSync } from 'node:fs';
import { CONFIG_SECTIONS, type runtimeConfig } from '../../../../src/api/config/runtime.ts';
import type { Output } from '../../../../src/api/endpoint.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import type { Cli } from '../../../cli.ts';
import { readStdin } from '../../../ui/prompt.ts';
import { showJson, showList } from '../../../ui/show.ts';

/** A section as the API answers it. */
export type Section = Output<typeof runtimeConfig.GetRuntimeConfigSection>;

/** How sections are printed. */
export interface SectionOptions {
  json?: true;
  yaml?: true;
}

/** The sections, for the help. */
export const SECTION_ARGUMENT = `One of ${CONFIG_SECTIONS.join(', ')}`;

/** Prints sections: a row for each field, as JSON, or as YAML that can be sent back. */
export function showSections(cli: Cli, sections: readonly Section[], { json, yaml }: SectionOptions): void {
  if (json) showJson(cli, sections.length === 1 ? sections[0] : sections);
  else if (yaml) cli.terminal.out.write(sections.map((one) => yamlOf(one, sections.length > 1)).join(''));
  else
    showList(cli, {
      rows: sections.flatMap(rowsOf),
      none: '',
      columns: [
        { title: 'SETTING', text: ({ name }) => name },
        { title: 'VALUE', text: ({ value }) => value },
        { title: 'FROM', text: ({ from }) => from },
      ],
    });
}

/** A file as text; `-` is stdin. Errors: invalid_argument when it cannot be read. */
export async function readFileOrStdin(file: string): Promise<string> {
  if (file === '-') return readStdin();
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw invalid({ field: 'file', description: `cannot read ${file}` });
  }
}

/** Fields of a section as they are written on a command line: the form of each value follows the one that it has. */
export function readAssignments(section: Section, words: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=');
      if (at < 1) throw invalid({ field: word, description: 'must have the form FIELD=VALUE' });
      const field = word.slice(0, at).replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
      return [field, valueLike(section.config?.[field], word.slice(at + 1), field)];
    }),
  );
}

function rowsOf({ name = '', config = {}, given = [] }: Section) {
  return Object.entries(config).map(([field, value]) => ({
    name: `${name}.${snake(field)}`,
    value: textOf(value),
    from: given.includes(field) ? 'set here' : 'instance',
  }));
}

function yamlOf({ name = '', yamlContent = '' }: Section, isNamed: boolean): string {
  return isNamed ? `${name}:\n${yamlContent.replace(/^(?=.)/gm, '  ')}` : yamlContent;
}

function valueLike(current: unknown, text: string, field: string): unknown {
  if (Array.isArray(current))
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  if (typeof current === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (typeof current === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (typeof current === 'object' && current !== null) return objectOf(text, field);
  return text;
}

/** `a=1,b=2`, or JSON. */
function objectOf(text: string, field: string): unknown {
  if (text.startsWith('{')) {
    try {
      return JSON.parse(text);
    } catch {
      throw invalid({ field, description: 'is no JSON' });
    }
  }
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      return [name.trim(), Number(value)];
    }),
  );
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}=${inner}`)
    .join(',');
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
