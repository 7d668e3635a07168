import { providerCatalog } from '../../../src/api/providers/catalog.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { originOf, stateOf } from './show-status.ts';

/** `svc provider list`. */
export const list = verb<[], { active?: true; json?: true }>({
  configure: (command) =>
    command.option('--active', 'Only those that can be called').option('--json', 'Print JSON'),
  about: 'Those that are set up: by hand, by the environment, by svc.yaml, and a local Ollama.',
  examples: ['svc provider list', 'svc provider list --active'],
  async run(cli, _, { active, json }) {
    const client = await cli.client();
    const { providers = [] } = await client.call(providerCatalog.ListConfiguredProviders, {
      query: { activeOnly: active },
    });
    if (json) {
      showJson(cli, providers);
      return undefined;
    }
    showList(cli, {
      rows: providers,
      none: 'There are no providers. Add one: svc provider add openai; or try local/echo without one',
      columns: [
        { title: 'NAME', text: ({ catalog }) => catalog?.name },
        { title: 'STATE', text: stateOf },
        { title: 'KEY', text: ({ configuration }) => configuration?.apiKey },
        { title: 'FROM', text: originOf },
        {
          title: 'MODELS',
          text: ({ configuration }) => String(configuration?.enabledModels?.length || 'all'),
          align: 'right',
        },
        {
          title: 'LAST USED',
          text: ({ configuration }) => relativeTime(configuration?.lastUsedAt) || 'never',
          raw: ({ configuration }) => configuration?.lastUsedAt,
        },
      ],
    });
    return undefined;
  },
});
