import { readFileSync } from 'node:fs';
import { memoryDocuments } from '../../../src/api/memory/documents.ts';
import { fail, invalid } from '../../../src/errors/app-error.ts';
import { integer, pairs } from '../../args.ts';
import { withSpinner } from '../../ui/progress.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

interface Options {
  text?: string;
  id?: string;
  meta?: Record<string, string>;
  chunkSize?: number;
  json?: true;
}

interface Document {
  readonly id?: string;
  readonly content: string;
  readonly source: string;
  readonly metadata?: Record<string, string>;
}

/** `svc memory add`: prints the ids of the documents. */
export const add = verb<[collection: string, files: string[]], Options>({
  configure: (command) =>
    command
      .argument('<collection>', 'Name of the collection')
      .argument('[files...]', 'Files with text; - is standard input')
      .option('--text <text>', 'A text in place of files')
      .option('--id <id>', 'Id of the one document; of a file its path when absent')
      .option('--meta <K=V>', 'Metadata to filter by; may be repeated', pairs)
      .option('--chunk-size <n>', 'Characters of a chunk', integer(1))
      .option('--json', 'Print JSON'),
  about: 'All are added, or none. A document whose id is there takes its place.',
  examples: [
    'svc memory add notes docs/*.md',
    'svc memory add notes --text "The staging database is db2" --meta team=ops',
    'git log -20 | svc memory add notes - --id recent-changes',
  ],
  async run(cli, [collectionName, files], { text, id, meta: metadata, chunkSize, json }) {
    const read = await Promise.all(files.map(readOne));
    if (text !== undefined) read.push({ content: text, source: '' });
    if (read.length === 0) throw invalid({ field: 'files', description: 'name a file, -, or give --text' });
    if (id !== undefined && read.length > 1)
      throw invalid({ field: 'id', description: 'is for one document only' });
    const documents = read.map((one) => ({ ...one, metadata, ...(id === undefined ? {} : { id }) }));
    const client = await cli.client();
    const what = `Adding ${documents.length} ${documents.length === 1 ? 'document' : 'documents'}`;
    const answer = await withSpinner(cli.terminal, what, () =>
      client.call(memoryDocuments.AddDocuments, {
        params: { collectionName },
        body: { documents, chunkSize },
      }),
    );
    if (json) showJson(cli, answer);
    else for (const one of answer.documentIds ?? []) cli.terminal.print(one);
    if (cli.terminal.err.isTty) cli.terminal.note(`${answer.chunksCreated ?? 0} new chunks`);
    return undefined;
  },
});

async function readOne(file: string): Promise<Document> {
  if (file === '-') return { content: await Bun.stdin.text(), source: 'stdin' };
  try {
    const content = readFileSync(file, 'utf8');
    const isName = /^[\w.:@/-]{1,128}$/.test(file);
    return { content, source: file, ...(isName ? { id: file } : {}) };
  } catch {
    throw fail('not_found', { what: 'file', id: file });
  }
}
