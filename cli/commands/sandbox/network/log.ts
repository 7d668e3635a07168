import { sandboxNetwork } from '../../../../src/api/sandbox/network.ts';
import { integer, word } from '../../../args.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';

interface Options {
  verdict?: 'allowed' | 'denied' | 'failed';
  limit: number;
  json?: true;
}

/** `svc sandbox network log`: the names that a sandbox looked up, oldest first. */
export const log = verb<[name: string], Options>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .option('--verdict <verdict>', 'allowed, denied or failed', word('allowed', 'denied', 'failed'))
      .option('--limit <n>', 'Most to list', integer(1), 50)
      .option('--json', 'Print JSON'),
  about: 'The latest 200 names since the daemon started are kept.',
  examples: ['svc sandbox network log box', 'svc sandbox network log box --verdict denied'],
  async run(cli, [name], { verdict, limit, json }) {
    const client = await cli.client();
    const answer = await client.call(sandboxNetwork.ListSandboxLookups, {
      params: { sandboxId: name },
      query: { verdict, limit },
    });
    const rows = (answer.lookups ?? []).toReversed();
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: 'It has looked up no names.',
      columns: [
        { title: 'WHEN', text: ({ time }) => relativeTime(time), raw: ({ time }) => time },
        { title: 'VERDICT', text: ({ verdict }) => verdict },
        { title: 'TYPE', text: ({ queryType }) => queryType },
        { title: 'NAME', text: ({ domain }) => domain },
        { title: 'ADDRESSES', text: ({ addresses = [] }) => addresses.join(' ') },
      ],
    });
    return undefined;
  },
});
