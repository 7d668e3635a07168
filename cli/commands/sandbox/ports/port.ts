import { InvalidArgumentError } from 'commander';
import { port } from '../../../args.ts';

/** Reads a port of a sandbox, 1 to 65535. */
export function boxPort(text: string): number {
  const value = port(text);
  if (value === 0) throw new InvalidArgumentError('It must be a port, 1 to 65535.');
  return value;
}
