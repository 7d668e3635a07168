import { snapshots } from '../../../src/api/sandbox/snapshots.ts';
import { formatBytes } from '../../../src/kit/bytes.ts';
import { integer } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

/** `svc snapshot list`. */
export const list = verb<[], { limit: number; offset?: number; json?: true }>({
  configure: (command) =>
    command
      .option('--limit <n>', 'Most to list', integer(1), 50)
      .option('--offset <n>', 'How many to skip', integer(0))
      .option('--json', 'Print JSON'),
  examples: ['svc snapshot list', 'svc snapshot list --json | jq -r .snapshots[].name'],
  async run(cli, _, { limit, offset, json }) {
    const client = await cli.client();
    const answer = await client.call(snapshots.ListSnapshots, { query: { limit, offset } });
    if (json) {
      showJson(cli, answer);
      return undefined;
    }
    showList(cli, {
      page: { offset, total: answer.total },
      rows: answer.snapshots,
      none: 'There are no snapshots here. Make one: svc snapshot create NAME --sandbox BOX',
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'NAME', text: ({ name }) => name },
        { title: 'STATE', text: ({ state }) => state },
        { title: 'IMAGE', text: ({ imageName }) => imageName },
        { title: 'SIZE', text: ({ size }) => size && formatBytes(Number(size)), raw: ({ size }) => size },
        {
          title: 'CREATED',
          text: ({ createdAt }) => relativeTime(createdAt),
          raw: ({ createdAt }) => createdAt,
        },
        {
          title: 'USED',
          text: ({ lastUsedAt }) => relativeTime(lastUsedAt) || 'never',
          raw: ({ lastUsedAt }) => lastUsedAt,
        },
      ],
    });
    return undefined;
  },
});
