import { mcpServers } from '../../../src/api/mcp/servers.ts';
import { EXIT } from '../../../src/errors/codes.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { lastWord } from './shown.ts';

/** `svc mcp health`: ends with 1 when a server does not answer. */
export const health = verb<[names: string[]], { json?: true }>({
  configure: (command) =>
    command
      .argument('[names...]', 'Names or ids of servers; all that are enabled when absent')
      .option('--json', 'Print JSON'),
  about:
    'Servers are asked every 30 seconds. A program that does not run is not started for that: it is unknown. Ends with 1 when one is unhealthy.',
  examples: ['svc mcp health', 'svc mcp health docs'],
  async run(cli, [names], { json }) {
    const client = await cli.client();
    const { servers = [] } = await client.call(mcpServers.ListMcpServers, { query: { enabledOnly: true } });
    const wanted = names.length > 0 ? names : servers.map(({ name = '' }) => name);
    const rows = await Promise.all(
      wanted.map(async (name) => ({
        name,
        ...(await client.call(mcpServers.GetMcpServerHealth, { params: { id: name } })),
      })),
    );
    const words = rows.map(({ status }) => lastWord('MCP_SERVER_HEALTH_STATUS_', status));
    if (json) showJson(cli, rows);
    else
      showList(cli, {
        rows: rows.map((row, at) => ({ ...row, word: words[at] })),
        none: 'There are no MCP servers.',
        columns: [
          { title: 'NAME', text: ({ name }) => name },
          { title: 'STATE', text: ({ word }) => word },
          {
            title: 'CHECKED',
            text: ({ lastCheck }) => (lastCheck ? relativeTime(lastCheck) : ''),
            raw: ({ lastCheck }) => lastCheck,
          },
          { title: 'ERROR', text: ({ error }) => error?.split('\n')[0] },
        ],
      });
    return words.includes('unhealthy') ? EXIT.error : undefined;
  },
});
