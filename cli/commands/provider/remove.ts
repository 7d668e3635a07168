import { providerCatalog } from '../../../src/api/providers/catalog.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc provider remove`. */
export const remove = verb<[names: string[]], object>({
  configure: (command) => command.argument('<names...>', 'Names of providers'),
  about: 'Its keys are deleted with it. One that comes from the environment or svc.yaml is removed there.',
  examples: ['svc provider remove openai'],
  async run(cli, [names]) {
    const client = await cli.client();
    return forEach(cli, names, 'Removing', (providerName) =>
      client.call(providerCatalog.DeleteProviderConfiguration, { params: { providerName } }),
    );
  },
});
