import { memoryCollections } from '../../../../src/api/memory/collections.ts';
import { integer, pairs, word } from '../../../args.ts';
import { showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';

interface Options {
  model?: string;
  dimension?: number;
  distance?: 'cosine' | 'l2' | 'dot';
  description?: string;
  meta?: Record<string, string>;
  json?: true;
}

/** `svc memory collection create`. */
export const create = verb<[name: string], Options>({
  configure: (command) =>
    command
      .argument('<name>', 'Name of the collection')
      .option('--model <model>', 'Embedding model; without one, recall is by words alone')
      .option('--dimension <n>', 'Length of its vectors, when not the usual one of the model', integer(1))
      .option('--distance <metric>', 'cosine, l2 or dot', word('cosine', 'l2', 'dot'))
      .option('--description <text>', 'What is in it')
      .option('--meta <K=V>', 'Metadata; may be repeated', pairs)
      .option('--json', 'Print JSON'),
  about: 'The model is fixed. It is asked once now, so that a collection that is there can be used.',
  examples: [
    'svc memory collection create notes',
    'svc memory collection create manuals --model openai/text-embedding-3-small',
  ],
  async run(cli, [name], { model, dimension, distance, description, meta, json }) {
    const client = await cli.client();
    const body = {
      name,
      description,
      embeddingModel: model,
      embeddingDimension: dimension,
      distanceMetric: distance,
      metadata: meta,
    };
    const { collection } = await client.call(memoryCollections.CreateCollection, { body });
    if (json) showJson(cli, collection);
    else cli.terminal.print(collection?.id ?? '');
    if (cli.terminal.err.isTty) cli.terminal.note(`Fill it: svc memory add ${name} FILE...`);
    return undefined;
  },
});
