import { apiKeys } from '../../../src/api/api-keys/keys.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

/** `svc key list`. */
export const list = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc key list'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const { apiKeys: rows = [] } = await client.call(apiKeys.ListApiKeys);
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: 'There are no keys. Make one: svc key create NAME',
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'NAME', text: ({ name }) => name },
        { title: 'TYPE', text: ({ type }) => type?.replace('API_KEY_TYPE_', '').toLowerCase() },
        {
          title: 'LAST USED',
          text: ({ lastUsedAt }) => relativeTime(lastUsedAt) || 'never',
          raw: ({ lastUsedAt }) => lastUsedAt,
        },
        {
          title: 'CREATED',
          text: ({ createdAt }) => relativeTime(createdAt),
          raw: ({ createdAt }) => createdAt,
        },
      ],
    });
    return undefined;
  },
});
