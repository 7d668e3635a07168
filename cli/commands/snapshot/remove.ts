import { snapshots } from '../../../src/api/sandbox/snapshots.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc snapshot rm`. */
export const remove = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Ids or names of snapshots'),
  examples: ['svc snapshot rm ready'],
  about: 'Sandboxes that were made of a snapshot go on.',
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Removing', (name) =>
      client.call(snapshots.DeleteSnapshot, { params: { snapshotId: name } }),
    );
  },
});
