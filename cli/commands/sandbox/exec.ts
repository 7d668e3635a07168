import { duration, integer, pairs } from '../../args.ts';
import { runOnTerminal, runPiped } from '../../pty/run.ts';
import { shellLine } from '../../quote.ts';
import { verb } from '../../verb.ts';
import { startInBackground } from './background.ts';

interface Options {
  workDir?: string;
  env?: Record<string, string>;
  uid?: number;
  timeout?: number;
  background?: true;
  tty?: true;
  stdin: boolean;
}

/** `svc sandbox exec`: runs a command and ends with its exit code. */
export const exec = verb<[name: string, command: string[]], Options>({
  about:
    'stdin, stdout and stderr are those of the command, and so is the exit code. Ctrl-C interrupts the command; a second one leaves.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<command...>', 'The command and its arguments, after --')
      .option('--cwd, --work-dir <dir>', 'Directory to run it in')
      .option('--env <K=V>', 'Environment variable; repeatable', pairs)
      .option('--uid <n>', 'User to run it as; 0 is root inside the sandbox', integer(0))
      .option('--timeout <duration>', 'Ends it after this time, with exit code 124', duration)
      .option('-d, --background', 'Leave it running and print its id')
      .option('-t, --tty', 'Run it on a terminal')
      .option('-n, --no-stdin', 'Do not read stdin'),
  examples: [
    'svc sandbox exec box -- make test',
    "svc sandbox exec box -- sh -c 'echo $HOME'",
    'tar -c . | svc sandbox exec box --cwd /workspace -- tar -x',
    'svc sandbox exec box -d -- python3 -m http.server',
  ],
  async run(cli, [name, command], options) {
    const { workDir: cwd, uid, env, timeout: timeoutMs } = options;
    const remote = { sandbox: name, command: `exec ${shellLine(command)}`, cwd, uid, env, timeoutMs };
    if (options.background) return startInBackground(cli, remote);
    return options.tty
      ? runOnTerminal(cli, { ...remote, input: true })
      : runPiped(cli, { ...remote, input: options.stdin });
  },
});
