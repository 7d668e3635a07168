import { nearest } from '../../../src/kit/nearest.ts';

/** Something that may be typed in place of a question. */
export interface SlashCommand {
  /** As the help shows it; empty when it takes none. */
  readonly argument: string;
  readonly about: string;
}

/** A line that was typed. */
export type Typed<Name extends string> =
  | { readonly kind: 'question'; readonly text: string }
  | { readonly kind: 'slash'; readonly name: Name; readonly argument: string }
  | { readonly kind: 'unknown'; readonly name: string; readonly near: string | undefined };

/** Commands that begin with a slash. */
export class SlashSet<Name extends string> {
  constructor(
    private readonly commands: Readonly<Record<Name, SlashCommand>>,
    private readonly otherNames: Readonly<Record<string, NoInfer<Name>>> = {},
  ) {}

  /** Reads what was typed. A question that begins with a slash is written with two. */
  read(line: string): Typed<Name> {
    const [, name, argument = ''] = /^\s*\/([a-z?]+)(?:\s+(.*))?$/s.exec(line) ?? [];
    if (name === undefined) return { kind: 'question', text: line.replace(/^\s*\/\//, '/') };
    const known = this.known(name);
    if (known) return { kind: 'slash', name: known, argument: argument.trim() };
    return { kind: 'unknown', name, near: nearest(name, Object.keys(this.commands), 1)[0] };
  }

  /** The lines of /help. */
  help(): string[] {
    const rows = Object.entries<SlashCommand>(this.commands).map(([name, { argument, about }]) => [
      `/${name} ${argument}`.trim(),
      about,
    ]);
    const width = Math.max(...rows.map(([left = '']) => left.length));
    return rows.map(([left = '', about]) => `${left.padEnd(width)}  ${about}`);
  }

  /** How a line that begins with a slash may go on, for the Tab key. */
  complete(line: string): [string[], string] {
    const names = Object.keys(this.commands).map((name) => `/${name} `);
    return [line.startsWith('/') ? names.filter((name) => name.startsWith(line)) : [], line];
  }

  private known(name: string): Name | undefined {
    if (Object.hasOwn(this.commands, name)) return name as Name;
    return Object.hasOwn(this.otherNames, name) ? this.otherNames[name] : undefined;
  }
}

/** What may be typed to a model. */
export const SLASH = new SlashSet(
  {
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
  },
  { exit: 'quit', q: 'quit', '?': 'help', new: 'clear' },
);

/** What may be typed to an agent. */
export const AGENT_SLASH = new SlashSet(
  {
    steer: {
      argument: 'TEXT',
      about: 'say something to the turn that is under way; so does a line without it',
    },
    system: { argument: 'TEXT', about: 'as /steer, but as an instruction' },
    interrupt: { argument: '', about: 'end the turn that is under way (also Ctrl-C twice)' },
    detach: { argument: '', about: 'leave; the turn goes on (also Ctrl-C, then d)' },
    cancel: { argument: '', about: 'end the session and everything that it does, for good' },
    complete: { argument: '', about: 'close the session for good' },
    help: { argument: '', about: 'show this' },
    quit: { argument: '', about: 'leave (also Ctrl-D)' },
  },
  { exit: 'quit', q: 'quit', '?': 'help', stop: 'interrupt' },
);

/** One of the commands that may be typed to a model. */
export type SlashName = Extract<ReturnType<typeof SLASH.read>, { kind: 'slash' }>['name'];

/** One of the commands that may be typed to an agent. */
export type AgentSlashName = Extract<ReturnType<typeof AGENT_SLASH.read>, { kind: 'slash' }>['name'];
