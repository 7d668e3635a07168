import { functions } from '../../../src/api/functions/functions.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc function rm`. */
export const remove = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Names or ids of functions'),
  examples: ['svc function rm weather'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Removing', (id) => client.call(functions.DeleteFunction, { params: { id } }));
  },
});
