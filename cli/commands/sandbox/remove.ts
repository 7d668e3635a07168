import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { verb } from '../../verb.ts';
import { forEach } from './each.ts';

/** `svc sandbox rm`: removes sandboxes for good. */
export const remove = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Ids or names of sandboxes'),
  examples: ['svc sandbox rm box', 'svc sandbox rm box other'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Removing', (name) =>
      client.call(sandboxLifecycle.DestroySandbox, { params: { sessionId: name } }),
    );
  },
});
