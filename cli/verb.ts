import type { Command } from 'commander';
import type { Cli } from './cli.ts';

/** One command: how it is called, and what it does. */
export interface Verb<Args extends readonly unknown[] = readonly unknown[], Options = object> {
  /** Declares arguments and options. */
  configure?(command: Command): unknown;
  /** Lines that can be pasted. */
  readonly examples: readonly string[];
  /** More than the summary says: a paragraph under it in the help. */
  readonly about?: string;
  /** Does it. Returns the exit code when that is not 0. Arguments are as `configure` declares them. */
  run(cli: Cli, args: Args, options: Options): Promise<number | undefined>;
}

/** Declares a command and checks its argument and option types. */
export function verb<Args extends readonly unknown[], Options>(definition: Verb<Args, Options>): Verb {
  return definition as unknown as Verb;
}

/** A command in the tree: its line in the help, and the file that has it. */
export interface Leaf {
  readonly summary: string;
  /** Other names of it. */
  readonly aliases?: readonly string[];
  load(): Promise<Verb>;
}

/** Commands under one noun. */
export interface Branch {
  readonly summary: string;
  /** Other names of the noun. */
  readonly aliases?: readonly string[];
  readonly commands: Readonly<Record<string, Leaf | Branch>>;
  /** What the noun alone does; its help when absent. */
  readonly load?: Leaf['load'];
}
