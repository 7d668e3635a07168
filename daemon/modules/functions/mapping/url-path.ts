import { invalid } from '../../../../src/errors/app-error.ts';
import { parseExpression, textOf } from './expression.ts';
import { follow, type Step } from './path.ts';

/** A path of a URL with `{argument}` places. */
export interface UrlPath {
  readonly parts: ReadonlyArray<string | readonly Step[]>;
  /** The arguments that it uses, by the name at the top. */
  readonly used: ReadonlySet<string>;
}

/** Reads one. The reason when it cannot be read. */
export function parseUrlPath(text: string): UrlPath | string {
  if (text !== '' && !text.startsWith('/')) return 'begins with /';
  if (/[?#\\\s]/.test(text)) return 'has no ?, #, backslash or space; the query has a mapping of its own';
  if (text.split('/').some(isDots)) return 'has no . or .. in it';
  const read = parseExpression(text);
  if (typeof read === 'string') return read;
  const parts = read.kind === 'text' ? read.parts : [read.steps];
  const used = parts.flatMap((part) => (typeof part === 'string' ? [] : part.slice(0, 1)));
  return { parts, used: new Set(used.flatMap((step) => ('name' in step ? [step.name] : []))) };
}

/**
 * The path with its arguments in it, percent-encoded: an argument stays inside its segment, whatever it is. Errors:
 * invalid_argument naming the argument that is missing, empty, or would lead out of its place.
 */
export function fillUrlPath({ parts }: UrlPath, args: unknown): string {
  const path = parts.map((part) => (typeof part === 'string' ? part : encoded(part, args))).join('');
  if (path.split('/').some(isDots))
    throw invalid({ field: 'arguments', description: 'would make the path lead elsewhere with its dots' });
  return path;
}

function encoded(steps: readonly Step[], args: unknown): string {
  const text = textOf(follow(args, steps));
  const field = ['arguments', ...steps.map(stepName)].join('.');
  if (text === undefined) throw invalid({ field, description: 'is required: the path has it' });
  if (text === '') throw invalid({ field, description: 'must not be empty: the path has it' });
  try {
    return encodeURIComponent(text);
  } catch {
    throw invalid({ field, description: 'is not text that a URL can have' });
  }
}

/** What URL parsers take for a step up or for nothing, also when it is encoded (URL standard, double-dot segment). */
function isDots(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment);
}

function stepName(step: Step): string {
  if ('name' in step) return step.name;
  return 'index' in step ? String(step.index) : '*';
}
