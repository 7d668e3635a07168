import { sandboxWebhooks } from '../../../../src/api/sandbox/webhooks.ts';
import { integer } from '../../../args.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox webhook list`. */
export const list = verb<[name: string | undefined], { limit: number; json?: true }>({
  configure: (command) =>
    command
      .argument('[name]', 'Id or name of a sandbox; all of them when absent')
      .option('--limit <n>', 'Most to list', integer(1), 100)
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox webhook list', 'svc sandbox webhook list box --json'],
  async run(cli, [sandboxId], { limit, json }) {
    const client = await cli.client();
    const answer = await client.call(sandboxWebhooks.ListWebhooks, { query: { sandboxId, limit } });
    if (json) {
      showJson(cli, answer);
      return undefined;
    }
    showList(cli, {
      rows: answer.webhooks ?? [],
      none: 'There are no webhooks. Make one: svc sandbox webhook create box -- make deploy',
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'NAME', text: ({ name }) => name },
        { title: 'SANDBOX', text: ({ sandboxId }) => sandboxId },
        {
          title: 'URL',
          text: ({ enabled, url }) => (enabled ? url : `${url} (disabled)`),
          raw: ({ url }) => url,
        },
        { title: 'CALLS', text: ({ triggerCount }) => triggerCount?.toString(), align: 'right' },
        { title: 'ERRORS', text: ({ errorCount }) => errorCount?.toString(), align: 'right' },
        {
          title: 'LAST',
          text: ({ lastTriggeredAt }) => relativeTime(lastTriggeredAt) || 'never',
          raw: ({ lastTriggeredAt }) => lastTriggeredAt,
        },
        { title: 'COMMAND', text: ({ command }) => command },
      ],
    });
    return undefined;
  },
});
