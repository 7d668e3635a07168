import { memoryDocuments } from '../../../src/api/memory/documents.ts';
import { integer, pairs, share, word } from '../../args.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

interface Options {
  top: number;
  minScore?: number;
  filter?: Record<string, string>;
  mode?: 'hybrid' | 'vector' | 'text';
  json?: true;
}

const SCORE_DIGITS = 3;
const ROW_TEXT = 160;

/** `svc memory query`: the chunks that answer best. */
export const query = verb<[collection: string, words: string[]], Options>({
  configure: (command) =>
    command
      .argument('<collection>', 'Name of the collection')
      .argument('<words...>', 'What is looked for')
      .option('--top <n>', 'Most chunks', integer(1), 10)
      .option('--min-score <score>', 'Least score, 0 to 1', share)
      .option('--filter <K=V>', 'Only documents with this metadata; may be repeated', pairs)
      .option('--mode <mode>', 'hybrid, vector or text', word('hybrid', 'vector', 'text'))
      .option('--json', 'Print JSON'),
  examples: [
    'svc memory query notes where is the staging database',
    'svc memory query notes deploy --filter team=ops --top 3',
  ],
  async run(cli, [collectionName, words], { top, minScore, filter, mode, json }) {
    const client = await cli.client();
    const body = { query: words.join(' '), topK: top, minScore, metadataFilter: filter, mode };
    const { results = [] } = await client.call(memoryDocuments.QueryCollection, {
      params: { collectionName },
      body,
    });
    if (json) {
      showJson(cli, results);
      return undefined;
    }
    const { out } = cli.terminal;
    for (const { documentId = '', chunkIndex = 0, score: value = 0, chunkText = '' } of results) {
      const figure = value.toFixed(SCORE_DIGITS);
      const line = chunkText.replace(/\s+/g, ' ');
      if (out.isTty)
        cli.terminal.print(
          `${out.style.bold(figure)}  ${documentId} #${chunkIndex}\n       ${line.slice(0, ROW_TEXT)}`,
        );
      else cli.terminal.print(`${figure}\t${documentId}\t${chunkIndex}\t${line}`);
    }
    if (results.length === 0 && cli.terminal.err.isTty) cli.terminal.note('Nothing was found.');
    return undefined;
  },
});
