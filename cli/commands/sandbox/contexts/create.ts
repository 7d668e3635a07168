import { sandboxCode } from '../../../../src/api/sandbox/code.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox contexts create`. */
export const create = verb<[name: string, language: string], object>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<language>', 'python, javascript, typescript or bash'),
  examples: ['ctx=$(svc sandbox contexts create box python)'],
  async run(cli, [name, language]) {
    const client = await cli.client();
    const params = { sandboxId: name };
    const { id } = await client.call(sandboxCode.CreateCodeContext, { params, body: { language } });
    cli.terminal.print(id);
    return undefined;
  },
});
