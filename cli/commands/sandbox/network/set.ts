import { sandboxNetwork } from '../../../../src/api/sandbox/network.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';
import { type NetworkOptions, networkOptions, networkRequest } from './options.ts';
import { showNetwork } from './show.ts';

/** `svc sandbox network set`: changes what a sandbox reaches, at once. */
export const set = verb<[name: string], NetworkOptions & { json?: true }>({
  configure: (command) =>
    networkOptions(
      command.argument('<name>', 'Id or name of a sandbox'),
      '--mode, --network-mode <mode>',
    ).option('--json', 'Print JSON'),
  about:
    'The whole policy is replaced. It holds at once, also for connections that are open. No mode opens this machine, other sandboxes or the credentials of a cloud.',
  examples: [
    'svc sandbox network set box --mode deny',
    'svc sandbox network set box --allow-host @registries --allow-host "*.example.com"',
    'svc sandbox network set box --network-block-all --allow-cidr 203.0.113.0/24',
  ],
  async run(cli, [name], options) {
    const client = await cli.client();
    const { network = {} } = await client.call(sandboxNetwork.SetSandboxNetwork, {
      params: { sandboxId: name },
      body: networkRequest(options),
    });
    if (options.json) showJson(cli, network);
    else showNetwork(cli, network);
    return undefined;
  },
});
