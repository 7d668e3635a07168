import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { integer, pairs, word } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

const STATUS = {
  pending: 'SANDBOX_STATUS_PENDING',
  running: 'SANDBOX_STATUS_RUNNING',
  stopped: 'SANDBOX_STATUS_STOPPED',
  failed: 'SANDBOX_STATUS_FAILED',
} as const;

interface Options {
  label?: Record<string, string>;
  status?: keyof typeof STATUS;
  limit: number;
  offset?: number;
  json?: true;
}

/** `svc sandbox list`. */
export const list = verb<[], Options>({
  configure: (command) =>
    command
      .option('--label <K=V>', 'Only those with this label; repeatable', pairs)
      .option(
        '--status <status>',
        'pending, running, stopped or failed',
        word('pending', 'running', 'stopped', 'failed'),
      )
      .option('--limit <n>', 'Most to list', integer(1), 50)
      .option('--offset <n>', 'How many to skip', integer(0))
      .option('--json', 'Print JSON'),
  examples: [
    'svc sandbox list',
    'svc sandbox list --label team=web --status running',
    'svc sandbox list | cut -f1',
  ],
  async run(cli, _, { label, status, limit, offset, json }) {
    const client = await cli.client();
    const answer = await client.call(sandboxLifecycle.ListSandboxInstances, {
      query: {
        limit,
        offset,
        status: status && STATUS[status],
        label_filter:
          label &&
          Object.entries(label)
            .map(([name, value]) => `${name}=${value}`)
            .join(','),
      },
    });
    if (json) {
      showJson(cli, answer);
      return undefined;
    }
    showList(cli, {
      page: { offset, total: answer.total },
      rows: answer.instances ?? [],
      none: 'There are no sandboxes here. Make one: svc sandbox create --name box',
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'NAME', text: ({ name }) => name },
        { title: 'STATE', text: ({ lifecycleState }) => lifecycleState },
        { title: 'IMAGE', text: ({ image }) => image },
        {
          title: 'CREATED',
          text: ({ createdAt }) => relativeTime(createdAt),
          raw: ({ createdAt }) => createdAt,
        },
        {
          title: 'EXPIRES',
          text: ({ expiresAt }) => relativeTime(expiresAt),
          raw: ({ expiresAt }) => expiresAt,
        },
      ],
    });
    return undefined;
  },
});
