import { gatewayInstance } from '../../../src/api/gateway/instance.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc gateway status`: which instance this is, and how its licence stands. */
export const status = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  about: 'An instance without a licence has everything.',
  examples: ['svc gateway status', 'svc gateway status --json'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const state = await client.call(gatewayInstance.GetGatewayInstanceStatus);
    if (json) {
      showJson(cli, state);
      return undefined;
    }
    const { planTier = '', expiresAt } = state.licenseState ?? {};
    showFields(cli, [
      ['instance', state.instanceId],
      ['status', state.status],
      ['plan', planTier.replace('LICENSE_TYPE_', '').toLowerCase()],
      ['activated', state.activatedAt ?? '(never)'],
      ['ends', expiresAt ?? '(never)'],
      ['note', state.message],
    ]);
    return undefined;
  },
});
