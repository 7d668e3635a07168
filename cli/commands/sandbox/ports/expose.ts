import { sandboxPorts } from '../../../../src/api/sandbox/ports.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { boxPort } from './port.ts';

/** `svc sandbox ports expose`: prints the address. */
export const expose = verb<[name: string, port: number], { protocol: string; json?: true }>({
  about: 'Whoever knows the address reaches the port. For a link that expires: svc sandbox preview.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<port>', 'The port', boxPort)
      .option('--protocol <name>', 'What is spoken there', 'http')
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox ports expose box 3000', 'curl "$(svc sandbox ports expose box 3000)"'],
  async run(cli, [name, port], { protocol, json }) {
    const client = await cli.client();
    const { mapping = {} } = await client.call(sandboxPorts.ExposePort, {
      params: { sessionId: name },
      body: { port, protocol },
    });
    if (json) showJson(cli, mapping);
    else cli.terminal.print(mapping.url ?? '');
    return undefined;
  },
});
