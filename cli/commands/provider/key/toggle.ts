import { providerKeys } from '../../../../src/api/providers/keys.ts';
import { word } from '../../../args.ts';
import { verb } from '../../../verb.ts';

/** `svc provider key toggle`. */
export const toggle = verb<[keyId: string, state: 'on' | 'off'], object>({
  configure: (command) =>
    command
      .argument('<key>', 'Id of a key (see: svc provider key list)')
      .argument('<state>', 'on or off', word('on', 'off')),
  about: 'A provider all of whose keys are off is not called; no other key takes their place.',
  examples: ['svc provider key toggle pky_01k8... off', 'svc provider key toggle env.openai on'],
  async run(cli, [keyId, state]) {
    const client = await cli.client();
    await client.call(providerKeys.ToggleAPIKey, { params: { keyId }, body: { isActive: state === 'on' } });
    cli.terminal.note(`Switched ${keyId} ${state}.`);
    return undefined;
  },
});
