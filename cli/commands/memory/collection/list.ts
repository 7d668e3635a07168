import { memoryCollections } from '../../../../src/api/memory/collections.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';

/** `svc memory collection list`. */
export const list = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc memory collection list'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const { collections = [] } = await client.call(memoryCollections.ListCollections);
    if (json) {
      showJson(cli, collections);
      return undefined;
    }
    showList(cli, {
      rows: collections,
      none: 'There are no collections. Make one: svc memory collection create NAME',
      columns: [
        { title: 'NAME', text: ({ name }) => name },
        { title: 'DOCUMENTS', align: 'right', text: ({ documentCount = 0 }) => String(documentCount) },
        { title: 'MODEL', text: ({ embeddingModel }) => embeddingModel || 'words alone' },
        {
          title: 'DIMENSION',
          align: 'right',
          text: ({ embeddingDimension }) => (embeddingDimension ? String(embeddingDimension) : '-'),
        },
        { title: 'DISTANCE', text: ({ distanceMetric }) => distanceMetric },
        {
          title: 'CHANGED',
          text: ({ updatedAt }) => relativeTime(updatedAt),
          raw: ({ updatedAt }) => updatedAt,
        },
      ],
    });
    return undefined;
  },
});
