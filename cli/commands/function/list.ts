import { functions } from '../../../src/api/functions/functions.ts';
import { integer } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { modeText, placeText } from './shown.ts';

/** `svc function list`. */
export const list = verb<[], { limit?: number; offset?: number; json?: true }>({
  configure: (command) =>
    command
      .option('--limit <count>', 'How many at most', integer(1))
      .option('--offset <count>', 'How many to leave out', integer(0))
      .option('--json', 'Print JSON'),
  examples: ['svc function list', "svc function list --json | jq -r '.[].name'"],
  async run(cli, _, { limit, offset, json }) {
    const client = await cli.client();
    const query = { limit, offset };
    const { functions: rows = [], total } = await client.call(functions.ListFunctions, { query });
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: 'There are no functions. Make one: svc function create NAME --code FILE',
      page: { offset, total },
      columns: [
        { title: 'NAME', text: ({ name }) => name },
        { title: 'MODE', text: modeText },
        { title: 'CALLS', text: placeText },
        { title: 'STATE', text: ({ enabled }) => (enabled ? 'on' : 'off') },
        {
          title: 'CHANGED',
          text: ({ updatedAt }) => relativeTime(updatedAt),
          raw: ({ updatedAt }) => updatedAt,
        },
      ],
    });
    return undefined;
  },
});
