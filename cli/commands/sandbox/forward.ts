import { InvalidArgumentError } from 'commander';
import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { port } from '../../args.ts';
import { forwardPort } from '../../forward.ts';
import { verb } from '../../verb.ts';
import { boxPort } from './ports/port.ts';

/** A port here and a port there. */
interface Pair {
  readonly local: number;
  readonly remote: number;
}

/** `svc sandbox forward`: a port of this machine that leads into a sandbox. */
export const forward = verb<[name: string, ports: Pair], object>({
  about: 'Works with a daemon on another machine too, and for whatever is spoken over TCP. Ctrl-C ends it.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<ports>', 'LOCAL:REMOTE, or one port for both; 0 takes a free one here', readPair),
  examples: ['svc sandbox forward box 3000', 'svc sandbox forward box 15432:5432'],
  async run(cli, [name, { local, remote }]) {
    const client = await cli.client();
    await client.call(sandboxLifecycle.GetSandboxInstance, { params: { sandboxId: name } });
    const listening = await forwardPort(client, name, local, remote, (error) =>
      cli.terminal.note(error instanceof Error ? error.message : 'A connection could not be made.'),
    );
    cli.terminal.note(`127.0.0.1:${listening} leads to port ${remote} of ${name}. Ctrl-C ends it.`);
    return new Promise<undefined>(() => undefined);
  },
});

function readPair(text: string): Pair {
  const [first = '', second = first, ...rest] = text.split(':');
  if (rest.length > 0) throw new InvalidArgumentError('It must have the form LOCAL:REMOTE.');
  return { local: port(first), remote: boxPort(second) };
}
