import { sandboxCode } from '../../../../src/api/sandbox/code.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox contexts interrupt`: stops what runs in a context, which keeps its variables. */
export const interrupt = verb<[name: string, id: string], object>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of a sandbox').argument('<id>', 'Id of a context'),
  examples: ['svc sandbox contexts interrupt box ctx_01k8...'],
  async run(cli, [name, id]) {
    const client = await cli.client();
    await client.call(sandboxCode.InterruptCode, { params: { sandboxId: name }, query: { id } });
    return undefined;
  },
});
