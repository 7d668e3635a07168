import { sandboxFiles } from '../../../../src/api/sandbox/files.ts';
import { integer } from '../../../args.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox files mkdir`: makes directories in a sandbox, and those above them. */
export const mkdir = verb<[name: string, paths: string[]], { mode?: number }>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<path...>', 'Directories to make')
      .option('--mode <octal>', 'Permissions, such as 700', integer(0)),
  examples: ['svc sandbox files mkdir box /workspace/a/b --mode 700'],
  async run(cli, [name, paths], { mode }) {
    const client = await cli.client();
    await client.call(sandboxFiles.CreateDirectories, {
      params: { sandboxId: name },
      body: Object.fromEntries(paths.map((path) => [path, { mode }])),
    });
    return undefined;
  },
});
