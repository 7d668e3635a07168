import type { Command } from 'commander';

/** A word that can come next, with its explanation. */
export interface Word {
  readonly word: string;
  readonly about: string;
}

/** What can follow one command: `path` is its words joined by spaces, empty for the program itself. */
export interface Place {
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
}

/** Every command of a program, with what can follow it. The program comes first. */
export function describeTree(program: Command): Place[] {
  const shared = optionsOf(program).filter(({ word }) => word !== '--version' && word !== '-v');
  return placesOf(program, []).map((place) =>
    place.path === '' ? place : { ...place, options: [...place.options, ...shared, HELP] },
  );
}

const HELP: Word = { word: '--help', about: 'Show help' };

function placesOf(command: Command, path: readonly string[]): Place[] {
  const place = {
    path: path.join(' '),
    commands: command.commands.map((child) => ({ word: child.name(), about: child.summary() })),
    options: optionsOf(command),
  };
  return [place, ...command.commands.flatMap((child) => placesOf(child, [...path, child.name()]))];
}

function optionsOf(command: Command): Word[] {
  return command.options.flatMap(({ short, long, description }) =>
    [short, long].flatMap((word) => (word ? [{ word, about: description }] : [])),
  );
}
