import { mcpTools } from '../../../src/api/mcp/tools.ts';
import { word } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc mcp switch`: what was switched, or one tool on or off. */
export const switchTool = verb<[tool: string | undefined, state: 'on' | 'off' | undefined], { json?: true }>({
  configure: (command) =>
    command
      .argument('[tool]', 'Name of a tool that svc offers at /mcp')
      .argument('[state]', 'on or off', word('on', 'off'))
      .option('--json', 'Print JSON'),
  about: 'Tools that were never switched are on. One that is off is hidden from MCP clients, and refused.',
  examples: ['svc mcp switch', 'svc mcp switch sandbox_terminate off'],
  async run(cli, [name, state = 'off'], { json }) {
    const client = await cli.client();
    if (name !== undefined)
      await client.call(mcpTools.SetMcpToolSwitch, { params: { name }, body: { enabled: state === 'on' } });
    const { tools } = await client.call(mcpTools.ListMcpToolSwitches);
    if (json) showJson(cli, tools);
    else
      showList(cli, {
        rows: Object.entries(tools),
        none: 'Nothing was switched: all tools are on.',
        columns: [
          { title: 'TOOL', text: ([tool]) => tool },
          { title: 'STATE', text: ([, isOn]) => (isOn ? 'on' : 'off') },
        ],
      });
    return undefined;
  },
});
