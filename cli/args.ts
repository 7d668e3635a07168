import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../src/kit/duration.ts';
import { SECOND_MS } from '../src/kit/time.ts';

/** Reads a whole number that is not below `minimum`. */
export function integer(minimum: number): (text: string) => number {
  return (text) => {
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < minimum) {
      throw new InvalidArgumentError(`It must be a whole number, ${minimum} or more.`);
    }
    return value;
  };
}

/** Reads a number above 0. */
export function positive(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

/** Reads a share: a number from 0 to 1. */
export function share(text: string): number {
  const value = /^(0|1|0?\.\d+|[01]\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('It must be a number from 0 to 1.');
  return value;
}

/** Reads a port. */
export function port(text: string): number {
  const value = integer(0)(text);
  if (value > 65_535) throw new InvalidArgumentError('It must be a port, 0 to 65535.');
  return value;
}

/** Reads a duration such as `30s` or `1h30m`, or seconds without a unit, as milliseconds. */
export function duration(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) * SECOND_MS : parseDuration(text);
  if (value === undefined) throw new InvalidArgumentError('It must be a duration such as 30s or 1h30m.');
  return value;
}

/** Collects `K=V` options that may be repeated. */
export function pairs(text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must have the form KEY=VALUE.');
  return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Collects options that may be repeated. */
export function list(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text];
}

/** Reads one of a few words. */
export function word<const W extends readonly string[]>(...words: W): (text: string) => W[number] {
  return (text) => {
    if (!words.includes(text)) throw new InvalidArgumentError(`It must be one of ${words.join(', ')}.`);
    return text;
  };
}
