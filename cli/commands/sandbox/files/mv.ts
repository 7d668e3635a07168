import { sandboxFiles } from '../../../../src/api/sandbox/files.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox files mv`: moves or renames a file or a directory of a sandbox. */
export const mv = verb<[name: string, src: string, dest: string], object>({
  about: 'As rename(2) does it: a file takes the place of a file, a directory that of an empty one.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<source>', 'What to move in it')
      .argument('<target>', 'Its new path'),
  examples: ['svc sandbox files mv box /workspace/a /workspace/b'],
  async run(cli, [name, src, dest]) {
    const client = await cli.client();
    await client.call(sandboxFiles.MoveFiles, { params: { sandboxId: name }, body: [{ src, dest }] });
    return undefined;
  },
});
