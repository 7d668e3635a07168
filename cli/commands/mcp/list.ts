import { mcpServers } from '../../../src/api/mcp/servers.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { lastWord, placeText, stateText } from './shown.ts';

/** `svc mcp list`. */
export const list = verb<[], { json?: true; on?: true }>({
  configure: (command) =>
    command.option('--on', 'Those alone that are enabled').option('--json', 'Print JSON'),
  examples: ['svc mcp list', "svc mcp list --json | jq -r '.[].name'"],
  async run(cli, _, { json, on }) {
    const client = await cli.client();
    const { servers: rows = [] } = await client.call(mcpServers.ListMcpServers, {
      query: { enabledOnly: on },
    });
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: 'There are no MCP servers. Register one: svc mcp add NAME URL',
      columns: [
        { title: 'NAME', text: ({ name }) => name },
        { title: 'BY', text: ({ transportType }) => lastWord('MCP_TRANSPORT_TYPE_', transportType) },
        { title: 'AT', text: placeText },
        { title: 'TOOLS', align: 'right', text: ({ toolCount }) => String(toolCount ?? 0) },
        { title: 'STATE', text: stateText },
        {
          title: 'CHECKED',
          text: ({ healthLastCheck }) => (healthLastCheck ? relativeTime(healthLastCheck) : ''),
          raw: ({ healthLastCheck }) => healthLastCheck,
        },
      ],
    });
    return undefined;
  },
});
