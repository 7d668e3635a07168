import type { Cli } from '../../cli.ts';
import { reportFailure } from '../../failure.ts';
import { withSpinner } from '../../ui/progress.ts';

/**
 * Does something to each of several sandboxes, and goes on when one fails.
 * Returns the exit code of the first failure.
 */
export async function forEach(
  cli: Cli,
  names: readonly string[],
  doing: string,
  work: (name: string) => Promise<unknown>,
): Promise<number> {
  let exit = 0;
  for (const name of names) {
    try {
      await withSpinner(cli.terminal, `${doing} ${name}`, () => work(name));
      if (cli.terminal.err.isTty) cli.terminal.note(`${doing} ${name}: done`);
    } catch (error) {
      const code = reportFailure(error, cli.terminal, cli.env);
      exit ||= code;
    }
  }
  return exit;
}
