import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { verb } from '../../verb.ts';
import { forEach } from './each.ts';

/** `svc sandbox revive`: wakes sleeping sandboxes. */
export const revive = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Ids or names of sandboxes'),
  examples: ['svc sandbox revive box', 'svc sandbox revive box other'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Waking', (name) =>
      client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId: name } }),
    );
  },
});
