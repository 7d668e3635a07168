import { sandboxPorts } from '../../../../src/api/sandbox/ports.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { boxPort } from './port.ts';

interface Options {
  protocol: string;
  wakeCommand?: string;
  json?: true;
}

/** `svc sandbox ports expose`: prints the address. */
export const expose = verb<[name: string, port: number], Options>({
  about: 'Whoever knows the address reaches the port. For a link that expires: svc sandbox preview.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<port>', 'The port', boxPort)
      .option('--protocol <name>', 'What is spoken there', 'http')
      .option('--wake-command <command>', 'A visitor wakes the sandbox, and this is run in it then')
      .option('--json', 'Print JSON'),
  examples: [
    'svc sandbox ports expose box 3000',
    "svc sandbox ports expose box 3000 --wake-command 'cd app && npm start'",
    'curl "$(svc sandbox ports expose box 3000)"',
  ],
  async run(cli, [name, port], { protocol, wakeCommand, json }) {
    const client = await cli.client();
    const { mapping = {} } = await client.call(sandboxPorts.ExposePort, {
      params: { sessionId: name },
      body: { port, protocol, wakeCommand },
    });
    if (json) showJson(cli, mapping);
    else cli.terminal.print(mapping.url ?? '');
    return undefined;
  },
});
