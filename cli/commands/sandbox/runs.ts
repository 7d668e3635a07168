import { sandboxCrons } from '../../../src/api/sandbox/crons.ts';
import { formatDuration } from '../../../src/kit/duration.ts';
import { integer } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

interface Options {
  limit: number;
  offset?: number;
  json?: true;
}

/** Shows the runs of crons or of webhooks, newest first. */
export function runsOf(kind: 'cron' | 'webhook', examples: readonly string[]) {
  return verb<[id: string | undefined], Options>({
    configure: (command) =>
      command
        .argument('[id]', `Id of a ${kind}; all of them when absent`)
        .option('--limit <n>', 'Most to list', integer(1), 50)
        .option('--offset <n>', 'How many of the newest to skip', integer(0))
        .option('--json', 'Print JSON'),
    examples,
    async run(cli, [triggerId], { limit, offset, json }) {
      const client = await cli.client();
      const query = { triggerType: kind, triggerId, limit, offset };
      const answer = await client.call(sandboxCrons.ListTriggers, { query });
      if (json) {
        showJson(cli, answer);
        return undefined;
      }
      showList(cli, {
        rows: answer.triggers ?? [],
        none: 'Nothing has run yet.',
        columns: [
          { title: 'RUN', text: ({ id }) => id },
          { title: kind.toUpperCase(), text: ({ triggerId }) => triggerId },
          {
            title: 'WHEN',
            text: ({ createdAt }) => relativeTime(createdAt),
            raw: ({ createdAt }) => createdAt,
          },
          { title: 'STATUS', text: ({ status }) => status },
          { title: 'EXIT', text: ({ exitCode }) => exitCode?.toString(), align: 'right' },
          {
            title: 'TOOK',
            text: ({ durationMs }) => durationMs && formatDuration(Number(durationMs)),
            raw: ({ durationMs }) => durationMs,
            align: 'right',
          },
          { title: 'EXECUTION', text: ({ executionId }) => executionId },
          { title: 'ERROR', text: ({ error }) => error },
        ],
      });
      return undefined;
    },
  });
}
