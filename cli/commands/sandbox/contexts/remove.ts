import { sandboxCode } from '../../../../src/api/sandbox/code.ts';
import { verb } from '../../../verb.ts';
import { forEach } from '../each.ts';

/** `svc sandbox contexts rm`: closes contexts; their variables are gone. */
export const remove = verb<[name: string, ids: string[]], object>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of a sandbox').argument('<ids...>', 'Ids of contexts'),
  examples: ['svc sandbox contexts rm box ctx_01k8...'],
  async run(cli, [name, ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Closing', (contextId) =>
      client.call(sandboxCode.DeleteCodeContext, { params: { sandboxId: name, contextId } }),
    );
  },
});
