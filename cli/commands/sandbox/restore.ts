import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { verb } from '../../verb.ts';
import { forEach } from './each.ts';

/** `svc sandbox restore`: brings archived sandboxes back and starts them. */
export const restore = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Ids or names of archived sandboxes'),
  examples: ['svc sandbox restore box'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Restoring', (name) =>
      client.call(sandboxLifecycle.RestoreSandbox, { params: { sandboxId: name } }),
    );
  },
});
