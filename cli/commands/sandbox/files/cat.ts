import { invalid } from '../../../../src/errors/app-error.ts';
import { describe, get } from '../../../copy/remote.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox files cat`: the contents of files of a sandbox, byte for byte. */
export const cat = verb<[name: string, paths: string[]], object>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of a sandbox').argument('<path...>', 'Files in it'),
  examples: ['svc sandbox files cat box /etc/os-release'],
  async run(cli, [name, paths]) {
    const remote = { client: await cli.client(), sandbox: name };
    for (const path of paths) {
      if ((await describe(remote, path))?.type === 'directory')
        throw invalid({ field: 'path', description: `${path} is a directory` });
      for await (const bytes of await get(remote, path))
        if (!cli.terminal.out.write(bytes)) await cli.terminal.out.drained();
    }
    return undefined;
  },
});
