import { volumes } from '../../../src/api/sandbox/volumes.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc volume create`: prints the id of the new volume. */
export const create = verb<[name: string], { json?: true }>({
  configure: (command) => command.argument('<name>', 'Name of the volume').option('--json', 'Print JSON'),
  examples: ['svc volume create data', 'svc sandbox create --volume data:/data'],
  async run(cli, [name], { json }) {
    const client = await cli.client();
    const made = await client.call(volumes.CreateVolume, { body: { name } });
    if (json) showJson(cli, made);
    else cli.terminal.print(made.id);
    if (cli.terminal.err.isTty) cli.terminal.note(`Use it: svc sandbox create --volume ${name}:/data`);
    return undefined;
  },
});
