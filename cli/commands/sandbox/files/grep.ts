import { sandboxFiles } from '../../../../src/api/sandbox/files.ts';
import { EXIT } from '../../../../src/errors/codes.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { shownText } from './shown.ts';

/** `svc sandbox files grep`: lines of files of a sandbox. Ends with 1 when there is none, as grep does. */
export const grep = verb<[name: string, pattern: string, path: string], { json?: true }>({
  about: 'The pattern is an extended regular expression (grep -E) and is looked for inside the sandbox.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<pattern>', 'An extended regular expression')
      .argument('[path]', 'A file, or the directory to look in', '/workspace')
      .option('--json', 'Print JSON'),
  examples: [
    "svc sandbox files grep box 'TODO|FIXME'",
    'svc sandbox files grep box main /workspace/app/main.py',
  ],
  async run(cli, [name, pattern, path], { json }) {
    const client = await cli.client();
    const matches = await client.call(sandboxFiles.SearchFileContents, {
      params: { sandboxId: name },
      query: { path, pattern },
    });
    if (json) showJson(cli, matches);
    else
      for (const { file, line, content } of matches)
        cli.terminal.print(
          `${shownText(file)}:${line}:${cli.terminal.out.isTty ? shownText(content) : content}`,
        );
    return matches.length > 0 ? undefined : EXIT.error;
  },
});
