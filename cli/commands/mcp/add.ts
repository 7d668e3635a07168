import { mcpServers } from '../../../src/api/mcp/servers.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { ABOUT_SECRETS, type DefinitionOptions, definitionOptions, readDefinition } from './definition.ts';
import { lastWord } from './shown.ts';

/** `svc mcp add`: prints the id. */
export const add = verb<[name: string, place: string[]], DefinitionOptions & { json?: true }>({
  configure: (command) =>
    definitionOptions(
      command
        .argument('<name>', 'Name of the server: its tools are mcp__NAME__TOOL')
        .argument('[place...]', 'Its URL, or after -- a program and its arguments'),
    ).option('--json', 'Print JSON'),
  about: `Programs run in a sandbox, never on the host. ${ABOUT_SECRETS}`,
  examples: [
    'svc mcp add docs https://mcp.example.com/mcp',
    'svc mcp add github https://api.githubcopilot.com/mcp/ --bearer token.txt',
    'svc mcp add memory -- npx -y @modelcontextprotocol/server-memory',
    'svc mcp add files --sandbox box -- npx -y @modelcontextprotocol/server-filesystem /workspace',
    'svc mcp add tracker --from tracker.json',
  ],
  async run(cli, [name, place], options) {
    const body = { ...(await readDefinition(place, options)), name };
    const client = await cli.client();
    const answer = await withSpinner(cli.terminal, `Reaching ${name}`, () =>
      client.call(mcpServers.RegisterMcpServer, { body }),
    );
    const { server = {}, tools = [] } = answer;
    if (options.json) showJson(cli, answer);
    else cli.terminal.print(server.id ?? '');
    if (!cli.terminal.err.isTty) return undefined;
    const isHealthy = lastWord('MCP_SERVER_HEALTH_STATUS_', server.healthStatus) === 'healthy';
    if (isHealthy) cli.terminal.note(`${tools.length} tools. See them: svc mcp tools ${name}`);
    else cli.terminal.note(`It does not answer yet: svc mcp health ${name}`);
    return undefined;
  },
});
