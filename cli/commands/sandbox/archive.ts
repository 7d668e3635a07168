import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { verb } from '../../verb.ts';
import { forEach } from './each.ts';

/** `svc sandbox archive`: packs sleeping sandboxes into cold storage. */
export const archive = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Ids or names of sleeping sandboxes'),
  examples: ['svc sandbox stop box && svc sandbox archive box'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Archiving', (name) =>
      client.call(sandboxLifecycle.ArchiveSandbox, { params: { sandboxId: name } }),
    );
  },
});
