import { sandboxFiles } from '../../../../src/api/sandbox/files.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { showFiles } from './shown.ts';

/** `svc sandbox files find`: files of a sandbox by name. */
export const find = verb<[name: string, pattern: string, path: string], { json?: true }>({
  about: 'The glob is that of a name, or of the path below the directory when it has a slash: src/**/*.ts.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<pattern>', 'A glob')
      .argument('[path]', 'The directory to look in', '/workspace')
      .option('--json', 'Print JSON'),
  examples: ["svc sandbox files find box '*.py'", "svc sandbox files find box '**/test/*' /workspace/app"],
  async run(cli, [name, pattern, path], { json }) {
    const client = await cli.client();
    const found = await client.call(sandboxFiles.SearchFiles, {
      params: { sandboxId: name },
      query: { path, pattern },
    });
    if (json) showJson(cli, found);
    else showFiles(cli, found, 'Nothing is called so.');
    return undefined;
  },
});
