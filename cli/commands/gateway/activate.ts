import { gatewayInstance } from '../../../src/api/gateway/instance.ts';
import { askSecret, readStdin } from '../../ui/prompt.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc gateway activate`: activates the instance with a token of the licence. */
export const activate = verb<[], { device?: string; json?: true }>({
  configure: (command) =>
    command
      .option('--device <hash>', 'Fingerprint of the device, when the token is for one')
      .option('--json', 'Print JSON'),
  about:
    'The token is asked for, or read from stdin. It is verified with license.public_key or license.secret of the instance’s configuration, and works once.',
  examples: ['svc gateway activate', 'svc gateway activate < token.txt'],
  async run(cli, _, { device, json }) {
    const client = await cli.client();
    const token = process.stdin.isTTY ? await askSecret(cli.terminal, 'Token') : await readStdin();
    const activated = await client.call(gatewayInstance.ActivateGatewayInstance, {
      body: { activationToken: token.trim(), deviceFingerprintHash: device },
    });
    if (json) {
      showJson(cli, activated);
      return undefined;
    }
    showFields(cli, [
      ['instance', activated.instanceId],
      ['status', activated.status],
      ['plan', activated.planTier],
      ['ends', activated.expiresAt ?? '(never)'],
    ]);
    return undefined;
  },
});
