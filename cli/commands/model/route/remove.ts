import { modelRoutes } from '../../../../src/api/gateway/model-routes.ts';
import { verb } from '../../../verb.ts';
import { forEach } from '../../sandbox/each.ts';

/** `svc model route rm`. */
export const remove = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Names of routes'),
  examples: ['svc model route rm fast'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Removing', (name) =>
      client.call(modelRoutes.DeleteModelRoute, { params: { name } }),
    );
  },
});
