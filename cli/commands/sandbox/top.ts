import { invalid } from '../../../src/errors/app-error.ts';
import type { Cli } from '../../cli.ts';
import { ownCommand } from '../../instance/start.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox top`: all running sandboxes, live, with keys. */
export const top = verb<[], object>({
  about:
    'Sorted by cpu at first. Keys: up and down choose, c m n sort, enter opens a shell, s stops, q leaves.',
  examples: ['svc sandbox top'],
  async run(cli) {
    if (!process.stdin.isTTY || !cli.terminal.out.isTty)
      throw invalid({ field: 'terminal', description: 'is needed; in a pipe: svc sandbox stats --all' });
    if (cli.env[VIEW]) return view(cli);
    for (;;) {
      const sandbox = await viewInChild(cli);
      if (sandbox === undefined) return undefined;
      await start(cli, ['sandbox', 'shell', sandbox]).exited;
    }
  },
});

/**
 * Marks the process that has the view. A process that has read the terminal goes on taking what is typed until it
 * ends, so the view and each shell have processes of their own, and this one reads nothing.
 */
const VIEW = 'SVC_TOP_VIEW';

/** Shows the view, and tells the process that started this one which shell is wanted. */
async function view(cli: Cli): Promise<undefined> {
  const { showTop } = await import('../../top/app.tsx');
  const sandbox = await showTop(await cli.client());
  if (sandbox !== undefined) process.send?.(sandbox);
  return undefined;
}

async function viewInChild(cli: Cli): Promise<string | undefined> {
  let wanted: string | undefined;
  const child = start(cli, ['sandbox', 'top'], (message) => {
    wanted = message;
  });
  await child.exited;
  return wanted;
}

/** Starts this program again on this terminal, for the same daemon. */
function start(
  { env, flags }: Cli,
  argv: readonly string[],
  told?: (message: string) => void,
): Bun.Subprocess {
  const place = [
    ...(flags.apiUrl ? ['--api-url', flags.apiUrl] : []),
    ...(flags.context ? ['--context', flags.context] : []),
  ];
  const key = flags.apiKey ? { SVC_API_KEY: flags.apiKey } : {};
  return Bun.spawn([...ownCommand(), ...place, ...argv], {
    env: { ...env, ...key, ...(told ? { [VIEW]: '1' } : {}) },
    stdio: ['inherit', 'inherit', 'inherit'],
    ...(told ? { ipc: told } : {}),
  });
}
