import { sandboxFiles } from '../../../../src/api/sandbox/files.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox files rm`: removes files of a sandbox for good, or directories. */
export const rm = verb<[name: string, paths: string[]], { recursive?: true }>({
  about: 'When one of the paths is missing nothing is removed. Links are removed, never followed.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<path...>', 'What to remove in it')
      .option('-r, --recursive', 'They are directories: remove what is in them too'),
  examples: ['svc sandbox files rm box /workspace/old.txt', 'svc sandbox files rm box -r /workspace/build'],
  async run(cli, [name, paths], { recursive }) {
    const client = await cli.client();
    const input = { params: { sandboxId: name }, body: { paths } };
    if (recursive) await client.call(sandboxFiles.DeleteDirectories, input);
    else await client.call(sandboxFiles.DeleteFiles, input);
    return undefined;
  },
});
