import { sandboxCrons } from '../../../../src/api/sandbox/crons.ts';
import { verb } from '../../../verb.ts';
import { forEach } from '../each.ts';

/** `svc sandbox cron rm`. */
export const remove = verb<[ids: string[]], object>({
  configure: (command) => command.argument('<ids...>', 'Ids of crons (see: svc sandbox cron list)'),
  examples: ['svc sandbox cron rm 3'],
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Removing the cron', (id) =>
      client.call(sandboxCrons.DeleteCron, { params: { id } }),
    );
  },
});
