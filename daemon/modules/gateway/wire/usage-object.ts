import { isCount } from './count.ts';
import type { Usage } from './usage.ts';

/** The usage that an answer reports, and where in its text it stands. */
export interface UsageObject {
  readonly start: number;
  readonly end: number;
  readonly value: Readonly<Record<string, unknown>>;
}

const NAME = '"usage"';
const LONGEST = 16 * 1024;

/**
 * The last object named `usage` in a JSON text, or in the end of one, without parsing the rest: vectors and pictures are
 * megabytes. A text inside of a string cannot be taken for it, because quotation marks are escaped there.
 */
export function usageObject(text: string): UsageObject | undefined {
  for (let at = text.lastIndexOf(NAME); at >= 0; at = at === 0 ? -1 : text.lastIndexOf(NAME, at - 1)) {
    const start =
      at + NAME.length + (/^\s*:\s*/.exec(text.slice(at + NAME.length, at + 64))?.[0].length ?? 0);
    const end = text[start] === '{' ? endOfObject(text, start) : undefined;
    const value = end === undefined ? undefined : parsed(text.slice(start, end));
    if (end !== undefined && value) return { start, end, value };
  }
  return undefined;
}

/** What an answer took, from its text or the end of it; undefined when it does not say. */
export function usageIn(text: string): Usage | undefined {
  const found = usageObject(text);
  return found && tokensOf(found.value);
}

/** The counts of a usage object in the words of any surface of this family. */
export function tokensOf(value: Readonly<Record<string, unknown>>): Usage | undefined {
  if (value.type === 'duration')
    return isCount(value.seconds) ? { input: 0, output: 0, seconds: value.seconds } : undefined;
  const output = value.completion_tokens ?? value.output_tokens ?? 0;
  const input = value.prompt_tokens ?? value.input_tokens ?? value.total_tokens;
  return isCount(input) && isCount(output) ? { input, output } : undefined;
}

function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let isText = false;
  for (let at = start; at < Math.min(text.length, start + LONGEST); at++) {
    const letter = text[at];
    if (isText && letter === '\\') at++;
    else if (letter === '"') isText = !isText;
    else if (!isText && letter === '{') depth++;
    else if (!isText && letter === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
