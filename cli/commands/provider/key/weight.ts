import { providerKeys } from '../../../../src/api/providers/keys.ts';
import { integer } from '../../../args.ts';
import { verb } from '../../../verb.ts';

/** `svc provider key weight`. */
export const weight = verb<[keyId: string, weight: number], object>({
  configure: (command) =>
    command
      .argument('<key>', 'Id of a key (see: svc provider key list)')
      .argument('<weight>', 'Its share of the calls, beside the weights of the other keys', integer(1)),
  examples: ['svc provider key weight pky_01k8... 3'],
  async run(cli, [keyId, given]) {
    const client = await cli.client();
    await client.call(providerKeys.UpdateAPIKeyWeight, { params: { keyId }, body: { weight: given } });
    cli.terminal.note(`The weight of ${keyId} is ${given}.`);
    return undefined;
  },
});
