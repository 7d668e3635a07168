import { mcpTools } from '../../../src/api/mcp/tools.ts';
import { word } from '../../args.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

const CLIENTS = ['claude', 'cursor', 'windsurf'] as const;

/** Where each client reads it. */
const FILES = {
  claude: '.mcp.json of a project',
  cursor: '~/.cursor/mcp.json',
  windsurf: '~/.codeium/windsurf/mcp_config.json',
} as const;

/** `svc mcp config`: prints JSON that can be pasted. */
export const config = verb<[client: (typeof CLIENTS)[number] | undefined], object>({
  configure: (command) => command.argument('[client]', `${CLIENTS.join(', ')}`, word(...CLIENTS)),
  about: 'The key is not in it: the client takes it from the environment variable SVC_API_KEY.',
  examples: ['svc mcp config claude > .mcp.json', 'svc mcp config cursor'],
  async run(cli, [name = 'claude']) {
    const client = await cli.client();
    showJson(cli, await client.call(mcpTools.GetMcpClientConfig, { query: { client: name } }));
    if (cli.terminal.err.isTty) cli.terminal.note(`It goes into ${FILES[name]}.`);
    return undefined;
  },
});
