import { snapshots } from '../../../src/api/sandbox/snapshots.ts';
import { integer, pairs } from '../../args.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

interface Options {
  count: number;
  name?: string;
  label?: Record<string, string>;
  json?: true;
}

/** `svc sandbox fork`: prints the ids of the copies, one a line. */
export const fork = verb<[name: string], Options>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox, running or sleeping')
      .option('-n, --count <n>', 'How many copies', integer(1), 1)
      .option('--name <name>', 'Name of the copy; several are called name-1, name-2 and so on')
      .option('--label <K=V>', "Label, in place of the sandbox's own; repeatable", pairs)
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox fork box', 'svc sandbox fork box -n 3 --name try', 'copy=$(svc sandbox fork box)'],
  about:
    'The copies run, with the files, the environment and the configuration of the sandbox. It is all of them or none.',
  async run(cli, [name], { count, name: copyName, label, json }) {
    const client = await cli.client();
    const body = { count, name: copyName, labels: label };
    const { instances } = await withSpinner(cli.terminal, `Copying ${name}`, () =>
      client.call(snapshots.ForkSandbox, { params: { sandboxId: name }, body }),
    );
    if (json) showJson(cli, instances);
    else for (const { id } of instances) cli.terminal.print(id ?? '');
    return undefined;
  },
});
