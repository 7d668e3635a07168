import { integer, pairs } from '../../args.ts';
import { runOnTerminal } from '../../pty/run.ts';
import { shellLine } from '../../quote.ts';
import { verb } from '../../verb.ts';

interface Options {
  workDir?: string;
  env?: Record<string, string>;
  uid?: number;
}

/** `svc sandbox shell`: a terminal in a sandbox. */
export const shell = verb<[name: string, command: string[]], Options>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('[command...]', 'What to run in place of the login shell, after --')
      .option('--cwd, --work-dir <dir>', 'Directory to start in')
      .option('--env <K=V>', 'Environment variable; repeatable', pairs)
      .option('--uid <n>', 'User to be; 0 is root inside the sandbox', integer(0)),
  examples: ['svc sandbox shell box', 'svc sandbox shell box --uid 0', 'svc sandbox shell box -- python3'],
  run: (cli, [name, command], { workDir: cwd, uid, env }) =>
    runOnTerminal(cli, {
      sandbox: name,
      command: command.length > 0 ? shellLine(command) : undefined,
      cwd,
      uid,
      env: { TERM: process.env.TERM ?? 'xterm-256color', ...env },
      input: true,
    }),
});
