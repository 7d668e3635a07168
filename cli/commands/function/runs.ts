import { functions } from '../../../src/api/functions/functions.ts';
import { integer } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

/** `svc function runs`: how the last calls went. */
export const runs = verb<[name: string], { limit?: number; json?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Name or id of a function')
      .option('--limit <count>', 'How many at most, 100 are kept', integer(1))
      .option('--json', 'Print JSON'),
  about: 'The last 100 calls are kept, without their arguments and results.',
  examples: ['svc function runs weather', 'svc function runs weather --limit 5 --json'],
  async run(cli, [id], { limit, json }) {
    const client = await cli.client();
    const { invocations } = await client.call(functions.ListFunctionInvocations, {
      params: { id },
      query: { limit },
    });
    if (json) {
      showJson(cli, invocations);
      return undefined;
    }
    showList(cli, {
      rows: invocations,
      none: 'It was not called yet.',
      columns: [
        { title: 'ID', text: (one) => one.id },
        { title: 'STATUS', text: ({ status }) => status },
        { title: 'MS', align: 'right', text: ({ durationMs }) => durationMs },
        { title: 'TRIES', align: 'right', text: ({ attempts }) => String(attempts) },
        {
          title: 'BEGAN',
          text: ({ startedAt }) => relativeTime(startedAt),
          raw: ({ startedAt }) => startedAt,
        },
        { title: 'ERROR', text: ({ error }) => error?.split('\n')[0] },
      ],
    });
    return undefined;
  },
});
