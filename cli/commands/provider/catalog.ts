import { providerCatalog } from '../../../src/api/providers/catalog.ts';
import { showJson, showList } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc provider catalog`. */
export const catalog = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON, with the models and what they cost'),
  examples: ['svc provider catalog', "svc provider catalog --json | jq '.[].models[].name'"],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const { providers = [] } = await client.call(providerCatalog.ListProviderCatalog);
    if (json) {
      showJson(cli, providers);
      return undefined;
    }
    showList(cli, {
      rows: providers,
      none: 'The catalog is empty.',
      columns: [
        { title: 'NAME', text: ({ name }) => name },
        { title: 'PROVIDER', text: ({ displayName }) => displayName },
        { title: 'MODELS', text: ({ models }) => String(models?.length || '-'), align: 'right' },
        { title: 'VARIABLES', text: ({ environment }) => environment?.slice(0, 2).join(', ') },
        { title: 'ABOUT', text: ({ description }) => description },
      ],
    });
    if (cli.terminal.err.isTty) cli.terminal.note('Add one: svc provider add NAME');
    return undefined;
  },
});
