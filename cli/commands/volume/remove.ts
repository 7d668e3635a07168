import { volumes } from '../../../src/api/sandbox/volumes.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc volume rm`. */
export const remove = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Ids or names of volumes'),
  examples: ['svc volume rm data'],
  about: 'What is in a volume is deleted with it. A volume that a sandbox has, awake or not, is not removed.',
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Removing', (name) =>
      client.call(volumes.DeleteVolume, { params: { volumeId: name } }),
    );
  },
});
