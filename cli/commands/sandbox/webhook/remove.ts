import { sandboxWebhooks } from '../../../../src/api/sandbox/webhooks.ts';
import { verb } from '../../../verb.ts';
import { forEach } from '../each.ts';

/** `svc sandbox webhook rm`. */
export const remove = verb<[ids: string[]], object>({
  about: 'Its address is unknown from then on.',
  configure: (command) => command.argument('<ids...>', 'Ids of webhooks (see: svc sandbox webhook list)'),
  examples: ['svc sandbox webhook rm 2'],
  async run(cli, [ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Removing the webhook', (id) =>
      client.call(sandboxWebhooks.DeleteWebhook, { params: { id } }),
    );
  },
});
