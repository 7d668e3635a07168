import type { Output } from '../../../src/api/endpoint.ts';
import { compatModels } from '../../../src/api/gateway/models.ts';
import { showJson, showList } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

type Model = Output<typeof compatModels.ListCompatModels>['data'][number];

/** `svc model list`. */
export const list = verb<[words: string[]], { provider?: string; json?: true }>({
  configure: (command) =>
    command
      .argument('[words...]', 'Parts of the name, such as: gpt mini')
      .option('--provider <name>', 'Only the models of this provider')
      .option('--json', 'Print JSON'),
  about:
    'Names are as calls write them. Prices are US dollars for a million tokens; nothing stands where context or price are not known.',
  examples: ['svc model list', 'svc model list mini --provider openai', 'svc model test openai/gpt-5-nano'],
  async run(cli, [words], { provider, json }) {
    const client = await cli.client();
    const { data } = await client.call(compatModels.ListCompatModels);
    const rows = data.filter((model) => isMeant(model, words, provider)).toSorted(byProvider);
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none:
        data.length > 0
          ? 'No model has such a name.'
          : 'There are no models. Add a provider: svc provider add NAME',
      columns: [
        { title: 'MODEL', text: ({ id }) => id },
        { title: 'PROVIDER', text: ({ owned_by }) => owned_by },
        {
          title: 'CONTEXT',
          text: ({ context_window }) => tokensText(context_window),
          raw: ({ context_window }) => context_window?.toString(),
          align: 'right',
        },
        { title: 'INPUT $/M', text: ({ pricing }) => pricing?.input_per_million?.toString(), align: 'right' },
        {
          title: 'OUTPUT $/M',
          text: ({ pricing }) => pricing?.output_per_million?.toString(),
          align: 'right',
        },
      ],
    });
    return undefined;
  },
});

function isMeant({ id, owned_by }: Model, words: readonly string[], provider: string | undefined): boolean {
  if (provider !== undefined && owned_by !== provider) return false;
  return words.every((word) => id.toLowerCase().includes(word.toLowerCase()));
}

function byProvider(a: Model, b: Model): number {
  return a.owned_by.localeCompare(b.owned_by) || a.id.localeCompare(b.id);
}

/** 128000 as `128k`, 1048576 as `1.05M`. */
function tokensText(tokens: number | undefined): string | undefined {
  if (tokens === undefined) return undefined;
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(2))}M`;
  return tokens >= 1000 ? `${Math.round(tokens / 1000)}k` : String(tokens);
}
