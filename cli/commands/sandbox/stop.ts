import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { verb } from '../../verb.ts';
import { forEach } from './each.ts';

/** `svc sandbox stop`: puts sandboxes to sleep; their files stay. */
export const stop = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Ids or names of sandboxes'),
  examples: ['svc sandbox stop box', 'svc sandbox stop box other'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Stopping', (name) =>
      client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: name } }),
    );
  },
});
