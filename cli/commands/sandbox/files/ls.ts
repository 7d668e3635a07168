import { sandboxFiles } from '../../../../src/api/sandbox/files.ts';
import { integer } from '../../../args.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { showFiles } from './shown.ts';

interface Options {
  depth: number;
  limit: number;
  offset?: number;
  json?: true;
}

/** `svc sandbox files ls`: what is in a directory of a sandbox. */
export const ls = verb<[name: string, path: string], Options>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('[path]', 'A directory in it', '/workspace')
      .option('--depth <n>', 'Directories below each other', integer(1), 1)
      .option('--limit <n>', 'Most to list', integer(1), 1_000)
      .option('--offset <n>', 'How many to skip', integer(0))
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox files ls box', 'svc sandbox files ls box /etc --depth 2 | cut -f5'],
  async run(cli, [name, path], { depth, limit, offset, json }) {
    const client = await cli.client();
    const listing = await client.call(sandboxFiles.ListDirectory, {
      params: { sandboxId: name },
      query: { path, depth, limit, offset },
    });
    if (json) showJson(cli, listing);
    else showFiles(cli, listing.entries, `${path} is empty.`);
    const shown = (offset ?? 0) + listing.entries.length;
    if (!json && shown < listing.total && cli.terminal.err.isTty)
      cli.terminal.note(`${listing.total - shown} more: --offset ${shown}`);
    return undefined;
  },
});
