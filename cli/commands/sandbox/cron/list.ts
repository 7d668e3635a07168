import { sandboxCrons } from '../../../../src/api/sandbox/crons.ts';
import { integer } from '../../../args.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox cron list`. */
export const list = verb<[name: string | undefined], { limit: number; json?: true }>({
  configure: (command) =>
    command
      .argument('[name]', 'Id or name of a sandbox; all of them when absent')
      .option('--limit <n>', 'Most to list', integer(1), 100)
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox cron list', 'svc sandbox cron list box --json'],
  async run(cli, [sandboxId], { limit, json }) {
    const client = await cli.client();
    const answer = await client.call(sandboxCrons.ListCrons, { query: { sandboxId, limit } });
    if (json) {
      showJson(cli, answer);
      return undefined;
    }
    showList(cli, {
      rows: answer.crons ?? [],
      none: "Nothing is scheduled. Schedule a command: svc sandbox cron create box '@daily' -- make backup",
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'NAME', text: ({ name }) => name },
        { title: 'SANDBOX', text: ({ sandboxId }) => sandboxId },
        { title: 'SCHEDULE', text: ({ schedule }) => schedule },
        { title: 'ZONE', text: ({ timezone }) => timezone },
        {
          title: 'NEXT',
          text: ({ enabled, nextRunAt }) => (enabled ? relativeTime(nextRunAt) : 'disabled'),
          raw: ({ nextRunAt }) => nextRunAt,
        },
        { title: 'RUNS', text: ({ runCount }) => runCount?.toString(), align: 'right' },
        { title: 'ERRORS', text: ({ errorCount }) => errorCount?.toString(), align: 'right' },
        { title: 'COMMAND', text: ({ command }) => command },
      ],
    });
    return undefined;
  },
});
