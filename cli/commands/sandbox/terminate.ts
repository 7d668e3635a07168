import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { verb } from '../../verb.ts';
import { forEach } from './each.ts';

/** `svc sandbox terminate`: ends sandboxes for good. */
export const terminate = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Ids or names of sandboxes'),
  examples: ['svc sandbox terminate box', 'svc sandbox terminate box other'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Terminating', (name) =>
      client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: name } }),
    );
  },
});
