import { run } from '../host/run.ts';

/**
 * Runs lines for nft(8), all as one transaction, and gives what it printed. After a transaction that deletes something
 * the program ends a grace period of the kernel later than the transaction holds.
 * Errors: HostCommandError. @param enter words before the program that bring it to where the rules are
 */
export function nft(
  enter: readonly string[],
  lines: string,
  options: readonly string[] = [],
): Promise<string> {
  const [program = 'nft', ...rest] = [...enter, 'nft', ...options, '-f', '-'];
  return run([program, ...rest], { input: lines });
}
