import { mcpServers } from '../../../src/api/mcp/servers.ts';
import { openInBrowser } from '../../open-in-browser.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc mcp authorize`: prints the address at which a person agrees. */
export const authorize = verb<[name: string], { browser: boolean; json?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Name or id of a server')
      .option('--no-browser', 'Print the address only')
      .option('--json', 'Print JSON'),
  about:
    'The authorization server has to know the redirect URI, which --json shows. The address is good for ten minutes, once.',
  examples: ['svc mcp authorize tracker', 'svc mcp authorize tracker --no-browser'],
  async run(cli, [id], { browser, json }) {
    const client = await cli.client();
    const begun = await client.call(mcpServers.AuthorizeMcpServer, { params: { id } });
    if (json) showJson(cli, begun);
    else cli.terminal.print(begun.authorizationUrl);
    if (browser && !json && cli.terminal.out.isTty) await openInBrowser(begun.authorizationUrl);
    return undefined;
  },
});
