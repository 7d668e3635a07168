import { sandboxCommand } from '../../../src/api/sandbox/command.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { integer, pairs } from '../../args.ts';
import type { Cli } from '../../cli.ts';
import { attachTerminal, runOnTerminal } from '../../pty/run.ts';
import { shellLine } from '../../quote.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

interface Options {
  workDir?: string;
  env?: Record<string, string>;
  uid?: number;
  attach?: string | true;
  view?: true;
  end?: string;
  list?: true;
  json?: true;
}

/** `svc sandbox shell`: a terminal in a sandbox, a new one or one that is there. */
export const shell = verb<[name: string, command: string[]], Options>({
  about:
    'A terminal outlives its connection: when that drops, svc connects again, and what was printed meanwhile comes. A terminal whose window was closed waits for --attach for a while (sandbox.terminal_grace).',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('[command...]', 'What to run in place of the login shell, after --')
      .option('--cwd, --work-dir <dir>', 'Directory to start in')
      .option('--env <K=V>', 'Environment variable; repeatable', pairs)
      .option('--uid <n>', 'User to be; 0 is root inside the sandbox', integer(0))
      .option('--attach [id]', 'Take over a terminal that is there; the latest when no id is given')
      .option('--view', 'With --attach: only watch')
      .option('--end <id>', 'Hang up on a terminal')
      .option('--list', 'List the terminals that can be attached to')
      .option('--json', 'With --list: print JSON'),
  examples: [
    'svc sandbox shell box',
    'svc sandbox shell box --uid 0',
    'svc sandbox shell box -- python3',
    'svc sandbox shell box --list',
    'svc sandbox shell box --attach',
  ],
  async run(cli, [name, command], { workDir: cwd, uid, env, attach, view, end, list, json }) {
    if (list) return listTerminals(cli, name, json);
    if (end !== undefined) return endTerminal(cli, name, end);
    if (attach !== undefined || view)
      return attachTerminal(cli, name, typeof attach === 'string' ? attach : await latest(cli, name), {
        view,
      });
    return runOnTerminal(cli, {
      sandbox: name,
      command: command.length > 0 ? shellLine(command) : undefined,
      cwd,
      uid,
      env: { TERM: process.env.TERM ?? 'xterm-256color', ...env },
      input: true,
    });
  },
});

async function terminalsOf(cli: Cli, name: string) {
  const client = await cli.client();
  const { terminals } = await client.call(sandboxCommand.ListTerminals, { params: { sandboxId: name } });
  return terminals;
}

async function latest(cli: Cli, name: string): Promise<string> {
  const last = (await terminalsOf(cli, name)).at(-1);
  if (last) return last.id;
  throw fail('failed_precondition', { message: `The sandbox ${name} has no terminal to attach to.` });
}

async function listTerminals(cli: Cli, name: string, json?: true): Promise<undefined> {
  const terminals = await terminalsOf(cli, name);
  if (json) {
    showJson(cli, { terminals });
    return undefined;
  }
  showList(cli, {
    rows: terminals,
    none: `The sandbox ${name} has no terminals. Open one: svc sandbox shell ${name}`,
    columns: [
      { title: 'ID', text: ({ id }) => id },
      { title: 'COMMAND', text: ({ command }) => command || 'login shell' },
      { title: 'SIZE', text: ({ cols, rows }) => `${cols}x${rows}` },
      { title: 'ATTACHED', text: ({ attached }) => (attached ? 'yes' : 'no') },
      { title: 'SINCE', text: ({ createdAt }) => relativeTime(createdAt), raw: ({ createdAt }) => createdAt },
    ],
  });
  return undefined;
}

async function endTerminal(cli: Cli, name: string, terminalId: string): Promise<undefined> {
  const client = await cli.client();
  await client.call(sandboxCommand.EndTerminal, { params: { sandboxId: name, terminalId } });
  return undefined;
}
