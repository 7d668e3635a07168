import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc agent rm`. */
export const remove = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Names, aliases or ids of agents'),
  about: 'Sessions that run go on with the agent that they began with. Its versions are gone, too.',
  examples: ['svc agent rm coder'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Removing', (id) =>
      client.call(agentDefinitions.DeleteAgent, { params: { id } }),
    );
  },
});
