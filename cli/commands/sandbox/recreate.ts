import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox recreate`: prints the id of the new sandbox. */
export const recreate = verb<[name: string], { json?: true }>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of the old sandbox').option('--json', 'Print JSON'),
  examples: ['svc sandbox recreate box'],
  async run(cli, [name], { json }) {
    const client = await cli.client();
    const made = await withSpinner(cli.terminal, `Making ${name} again`, () =>
      client.call(sandboxLifecycle.RecreateSandbox, { body: { sandboxId: name } }),
    );
    if (json) showJson(cli, made);
    else cli.terminal.print(made.id ?? '');
    return undefined;
  },
});
