import type { Output } from '../../../../src/api/endpoint.ts';
import { sandboxNetwork } from '../../../../src/api/sandbox/network.ts';
import type { Cli } from '../../../cli.ts';
import { showFields, showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox network show`: what a sandbox reaches. */
export const show = verb<[name: string], { json?: true }>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of a sandbox').option('--json', 'Print JSON'),
  examples: ['svc sandbox network show box', 'svc sandbox network show box --json'],
  async run(cli, [name], { json }) {
    const client = await cli.client();
    const { network = {} } = await client.call(sandboxNetwork.GetSandboxNetwork, {
      params: { sandboxId: name },
    });
    if (json) showJson(cli, network);
    else showNetwork(cli, network);
    return undefined;
  },
});

/** Prints what a sandbox reaches. */
export function showNetwork(
  cli: Cli,
  network: NonNullable<Output<typeof sandboxNetwork.GetSandboxNetwork>['network']>,
): void {
  const { networkMode, networkAllowCidrs = [], networkAllowHosts = [] } = network;
  showFields(cli, [
    ['mode', networkMode],
    ['networks', networkAllowCidrs.join(' ')],
    ['hosts', networkAllowHosts.join(' ')],
  ]);
}
