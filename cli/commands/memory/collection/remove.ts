import { memoryCollections } from '../../../../src/api/memory/collections.ts';
import { verb } from '../../../verb.ts';
import { forEach } from '../../sandbox/each.ts';

/** `svc memory collection rm`. */
export const remove = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Names of collections'),
  examples: ['svc memory collection rm notes'],
  about: 'Every document in it is removed with it. This cannot be undone.',
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Removing', (name) =>
      client.call(memoryCollections.DeleteCollection, { params: { name } }),
    );
  },
});
