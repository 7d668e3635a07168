import { providerCatalog } from '../../../src/api/providers/catalog.ts';
import { verb } from '../../verb.ts';
import { showStatus } from './show-status.ts';

/** `svc provider show`. */
export const show = verb<[name: string], { json?: true }>({
  configure: (command) => command.argument('<name>', 'Name of a provider').option('--json', 'Print JSON'),
  about: 'For a provider that is not set up, its settings and the variables that are read.',
  examples: ['svc provider show openai', 'svc provider show vertex'],
  async run(cli, [providerName], { json }) {
    const client = await cli.client();
    const { provider = {} } = await client.call(providerCatalog.GetProvider, { params: { providerName } });
    showStatus(cli, provider, json);
    return undefined;
  },
});
