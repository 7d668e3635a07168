import { nearest } from '../../../src/kit/nearest.ts';

/** What may be typed in place of a question: its name, its argument and what it does. */
export const SLASH = {
  model: { argument: '[NAME]', about: 'ask another model; the conversation goes on' },
  system: {
    argument: '[TEXT]',
    about: 'tell the model something before everything else; alone takes it back',
  },
  image: { argument: 'FILE', about: 'send a picture with the next question' },
  clear: { argument: '', about: 'forget what was said' },
  save: { argument: 'FILE', about: 'write the conversation: .json for programs, else Markdown' },
  help: { argument: '', about: 'show this' },
  quit: { argument: '', about: 'leave (also Ctrl-D)' },
} as const;

/** One of them. */
export type SlashName = keyof typeof SLASH;

/** A line that was typed. */
export type Typed =
  | { readonly kind: 'question'; readonly text: string }
  | { readonly kind: 'slash'; readonly name: SlashName; readonly argument: string }
  | { readonly kind: 'unknown'; readonly name: string; readonly near: string | undefined };

const OTHER_NAMES: Readonly<Record<string, SlashName>> = {
  exit: 'quit',
  q: 'quit',
  '?': 'help',
  new: 'clear',
};

/** Reads what was typed. A question that begins with a slash is written with two. */
export function readTyped(line: string): Typed {
  const [, name, argument = ''] = /^\s*\/([a-z?]+)(?:\s+(.*))?$/s.exec(line) ?? [];
  if (name === undefined) return { kind: 'question', text: line.replace(/^\s*\/\//, '/') };
  const known = isSlash(name) ? name : Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
  if (known) return { kind: 'slash', name: known, argument: argument.trim() };
  return { kind: 'unknown', name, near: nearest(name, Object.keys(SLASH), 1)[0] };
}

/** The lines of /help. */
export function slashHelp(): string[] {
  const rows = Object.entries(SLASH).map(([name, { argument, about }]) => [
    `/${name} ${argument}`.trim(),
    about,
  ]);
  const width = Math.max(...rows.map(([left = '']) => left.length));
  return rows.map(([left = '', about]) => `${left.padEnd(width)}  ${about}`);
}

/** How a line that begins with a slash may go on, for the Tab key. */
export function completeSlash(line: string): [string[], string] {
  const names = Object.keys(SLASH).map((name) => `/${name} `);
  return [line.startsWith('/') ? names.filter((name) => name.startsWith(line)) : [], line];
}

function isSlash(name: string): name is SlashName {
  return Object.hasOwn(SLASH, name);
}
