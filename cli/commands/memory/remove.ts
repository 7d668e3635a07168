import { memoryDocuments } from '../../../src/api/memory/documents.ts';
import { verb } from '../../verb.ts';
import { forEach } from '../sandbox/each.ts';

/** `svc memory rm`. */
export const remove = verb<[collection: string, ids: string[]], object>({
  configure: (command) =>
    command
      .argument('<collection>', 'Name of the collection')
      .argument('<documents...>', 'Ids of documents, as add and query print them'),
  examples: ['svc memory rm notes README.md'],
  async run(cli, [collectionName, ids]) {
    const client = await cli.client();
    return forEach(cli, ids, 'Removing', (documentId) =>
      client.call(memoryDocuments.DeleteDocument, { params: { collectionName, documentId } }),
    );
  },
});
