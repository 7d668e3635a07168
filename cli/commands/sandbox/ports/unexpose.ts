import { sandboxPorts } from '../../../../src/api/sandbox/ports.ts';
import { verb } from '../../../verb.ts';
import { boxPort } from './port.ts';

/** `svc sandbox ports unexpose`. */
export const unexpose = verb<[name: string, port: number], object>({
  about: 'Its address, its signed links and its open connections end at once.',
  configure: (command) =>
    command.argument('<name>', 'Id or name of a sandbox').argument('<port>', 'The port', boxPort),
  examples: ['svc sandbox ports unexpose box 3000'],
  async run(cli, [name, port]) {
    const client = await cli.client();
    await client.call(sandboxPorts.UnexposePort, { params: { sessionId: name, port } });
    if (cli.terminal.err.isTty) cli.terminal.note(`Port ${port} of ${name} has no address any more.`);
    return undefined;
  },
});
