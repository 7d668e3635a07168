import { CONFIG_SECTIONS } from '../../../src/api/config/runtime.ts';
import { nearest } from '../../../src/kit/nearest.ts';
import { isMapping } from './check.ts';
import type { Finding } from './rules.ts';
import { camel, KEY_OF, type SectionName, snake } from './sections.ts';

/** A configuration taken apart, unchecked. */
export interface ReadConfig {
  readonly sections: ReadonlyArray<{
    readonly section: SectionName;
    readonly path: string;
    readonly value: unknown;
  }>;
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** Where sections stand in svc.yaml (behaviour: Gateway pipeline and configuration). */
const GROUPS: Readonly<Record<string, readonly SectionName[]>> = {
  gateway: ['rate_limit', 'load_balancer'],
  server: ['cors'],
};
/** What an answer of the API has beside the sections. */
const METADATA: readonly string[] = ['version', 'updatedAt'];

/** YAML as a value, or what is wrong with it. An empty text is null. */
export function readYamlText(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: Bun.YAML.parse(text) };
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^YAML Parse error: /, '') : 'unreadable';
    return { problem: `is not YAML: ${why}` };
  }
}

/**
 * Finds the sections in a configuration: by their names in YAML or JSON, alone or where svc.yaml has them. What is
 * no section is warned of, since svc.yaml has more than these.
 */
export function readConfig(value: unknown, root: string): ReadConfig {
  if (value === null) return { sections: [], errors: [], warnings: [] };
  if (!isMapping(value)) {
    const message = 'must be a mapping of sections';
    return { sections: [], errors: [{ field: root, message, code: 'wrong_type' }], warnings: [] };
  }
  const sections: Array<ReadConfig['sections'][number]> = [];
  const errors: Finding[] = [];
  const warnings: Finding[] = [];
  for (const { name, path, inner, among } of places(value)) {
    const section = among.find((one) => one === name || KEY_OF[one] === name);
    if (!section) warnings.push(unknownSection(path, name, among));
    else if (sections.some((one) => one.section === section))
      errors.push({ field: path, message: `says ${section} a second time`, code: 'given_twice' });
    else if (inner !== null && inner !== undefined) sections.push({ section, path, value: inner });
  }
  return { sections, errors, warnings };
}

interface Place {
  readonly name: string;
  readonly path: string;
  readonly inner: unknown;
  /** The sections that may stand here. */
  readonly among: readonly SectionName[];
}

function* places(value: Readonly<Record<string, unknown>>): Generator<Place> {
  for (const [name, inner] of Object.entries(value)) {
    const group = Object.hasOwn(GROUPS, name) ? GROUPS[name] : undefined;
    if (group && isMapping(inner))
      for (const [part, last] of Object.entries(inner))
        yield { name: part, path: `${name}.${part}`, inner: last, among: group };
    else if (!METADATA.includes(camel(name))) yield { name, path: name, inner, among: CONFIG_SECTIONS };
  }
}

function unknownSection(path: string, name: string, among: readonly SectionName[]): Finding {
  const near = among.length > 1 ? nearest(snake(name), among, 1)[0] : undefined;
  const hint = near ? `; did you mean ${near}?` : '';
  return {
    field: path,
    message: `is no section of the runtime configuration${hint}`,
    code: 'unknown_section',
  };
}
