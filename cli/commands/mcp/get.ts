import { mcpServers } from '../../../src/api/mcp/servers.ts';
import { verb } from '../../verb.ts';
import { showServer } from './shown.ts';

/** `svc mcp get`. */
export const get = verb<[name: string], { json?: true }>({
  configure: (command) => command.argument('<name>', 'Name or id of a server').option('--json', 'Print JSON'),
  examples: ['svc mcp get docs'],
  async run(cli, [id], { json }) {
    const client = await cli.client();
    const { server = {} } = await client.call(mcpServers.GetMcpServer, { params: { id } });
    showServer(cli, server, json);
    return undefined;
  },
});
