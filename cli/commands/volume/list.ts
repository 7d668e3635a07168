import { volumes } from '../../../src/api/sandbox/volumes.ts';
import { integer } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

/** `svc volume list`. */
export const list = verb<[], { limit: number; offset?: number; json?: true }>({
  configure: (command) =>
    command
      .option('--limit <n>', 'Most to list', integer(1), 50)
      .option('--offset <n>', 'How many to skip', integer(0))
      .option('--json', 'Print JSON'),
  examples: ['svc volume list'],
  async run(cli, _, { limit, offset, json }) {
    const client = await cli.client();
    const answer = await client.call(volumes.ListVolumes, { query: { limit, offset } });
    if (json) {
      showJson(cli, answer);
      return undefined;
    }
    showList(cli, {
      page: { offset, total: answer.total },
      rows: answer.volumes,
      none: 'There are no volumes here. Make one: svc volume create NAME',
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'NAME', text: ({ name }) => name },
        { title: 'STATE', text: ({ state }) => state },
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
