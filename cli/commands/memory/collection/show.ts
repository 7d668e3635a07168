import { memoryCollections } from '../../../../src/api/memory/collections.ts';
import { showFields, showJson } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';

/** `svc memory collection show`. */
export const show = verb<[name: string], { json?: true }>({
  configure: (command) => command.argument('<name>', 'Name of the collection').option('--json', 'Print JSON'),
  examples: ['svc memory collection show notes'],
  async run(cli, [name], { json }) {
    const client = await cli.client();
    const { collection = {} } = await client.call(memoryCollections.GetCollection, { params: { name } });
    if (json) {
      showJson(cli, collection);
      return undefined;
    }
    const dimension = collection.embeddingDimension || undefined;
    showFields(cli, [
      ['name', collection.name],
      ['id', collection.id],
      ['description', collection.description || undefined],
      ['documents', String(collection.documentCount ?? 0)],
      ['model', collection.embeddingModel || 'none: recall is by words alone'],
      ['dimension', dimension?.toString()],
      ['distance', dimension === undefined ? undefined : collection.distanceMetric],
      ...Object.entries(collection.metadata ?? {}).map(([key, value]) => [`meta ${key}`, value] as const),
      ['created', collection.createdAt],
      ['changed', collection.updatedAt],
    ]);
    return undefined;
  },
});
