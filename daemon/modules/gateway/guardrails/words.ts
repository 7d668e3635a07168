import type { Subject } from './guardrail.ts';

/** One text of a request, with who says it: `user` where a request does not tell. */
export interface Words {
  readonly text: string;
  readonly role: string;
}

/** Fields of a request, of any surface, that hold what is said. */
const ROOTS = new Set([
  'messages',
  'system',
  'instructions',
  'input',
  'prompt',
  'suffix',
  'query',
  'documents',
]);
/** Fields below them that hold texts. */
const TEXTS = new Set([...ROOTS, 'content', 'text', 'arguments', 'output', 'refusal', 'summary']);
/** Fields that hold pictures, files, sealed things and names; never looked into. */
const SEALED = new Set([
  'image_url',
  'input_audio',
  'audio',
  'file_data',
  'data',
  'url',
  'signature',
  'encrypted_content',
  'provider_content',
  'cache_control',
]);

/** Every text of a request, in order. Pictures, sound and files are none. */
export function wordsIn(subject: Subject): readonly Words[] {
  const found: Words[] = [];
  walkRequest(subject, (text, role) => {
    found.push({ text, role });
    return text;
  });
  return found;
}

/** The same request with other texts: as many as `wordsIn` gives, in its order. What does not change is shared with the old one. */
export function withWords(subject: Subject, texts: readonly string[]): Subject {
  let at = 0;
  return walkRequest(subject, (text) => texts[at++] ?? text) as Subject;
}

type Visit = (text: string, role: string) => string;

function walkRequest(subject: Subject, visit: Visit): unknown {
  return mapFields(subject, (name, value) =>
    ROOTS.has(name) ? walk(value, name, rootRole(name), false, visit) : value,
  );
}

function rootRole(name: string): string {
  return name === 'system' || name === 'instructions' ? 'system' : 'user';
}

/** `all` is set below the arguments of a call, whose fields may have any name. */
function walk(value: unknown, name: string, role: string, all: boolean, visit: Visit): unknown {
  if (typeof value === 'string') return all || TEXTS.has(name) ? visit(value, role) : value;
  if (Array.isArray(value)) return mapItems(value, (item) => walk(item, name, role, all, visit));
  if (typeof value !== 'object' || value === null) return value;
  const { role: own, type } = value as { role?: unknown; type?: unknown };
  const speaker = typeof own === 'string' ? own : role;
  return mapFields(value as Subject, (field, inner) => {
    if (SEALED.has(field) && !all && !isPlainSource(field, value)) return inner;
    return walk(inner, field, speaker, all || isFree(type, field) || isPlainSource(field, value), visit);
  });
}

/** The input of a call, and its result where that is an object, have fields of the caller's own. */
function isFree(type: unknown, field: string): boolean {
  return (
    (type === 'tool_use' && field === 'input') || (type === 'function_call_output' && field === 'output')
  );
}

/** A document that travels as text stands under the name of bytes. */
function isPlainSource(field: string, parent: object): boolean {
  return field === 'data' && (parent as { type?: unknown }).type === 'text';
}

function mapItems(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let isSame = true;
  const changed = items.map((item) => {
    const other = change(item);
    isSame &&= other === item;
    return other;
  });
  return isSame ? items : changed;
}

function mapFields(fields: Subject, change: (name: string, value: unknown) => unknown): Subject {
  let changed: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(fields)) {
    const other = change(name, value);
    if (other === value) continue;
    changed ??= { ...fields };
    changed[name] = other;
  }
  return changed ?? fields;
}

/** The field in which a request has numbers of tokens in place of texts, which cannot be looked at. */
export function tokensIn(subject: Subject): string | undefined {
  return ['prompt', 'input'].find((name) => {
    const value = subject[name];
    return Array.isArray(value) && value.flat(1).some((item) => typeof item === 'number');
  });
}
