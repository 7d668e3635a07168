import { mcpServers } from '../../../src/api/mcp/servers.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc mcp rm`. */
export const remove = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Names or ids of servers'),
  examples: ['svc mcp rm docs'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Removing', (id) =>
      client.call(mcpServers.DeleteMcpServer, { params: { id } }),
    );
  },
});
