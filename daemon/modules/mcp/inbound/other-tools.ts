import { chat } from '../../../../src/api/gateway/chat.ts';
import { compatModels } from '../../../../src/api/gateway/models.ts';
import { memoryDocuments } from '../../../../src/api/memory/documents.ts';
import { args, type OperationTool, operationTool, optional, text, texts, whole } from './define.ts';

const COLLECTION = text('The name of a memory collection.');

/** Who calls, models and memory, for clients of /mcp. */
export const otherTools: readonly OperationTool[] = [
  operationTool({
    name: 'svc_whoami',
    description: 'Tells as whom you are connected: tenant, role and key.',
    args: args({}),
    access: 'viewer',
    effect: 'reads',
    run: async (_, __, { caller: { tenant, role, actor } }) => ({ tenant, role, actor }),
  }),
  operationTool({
    name: 'svc_echo',
    description: 'Answers the text that it is given, to try the connection.',
    args: args({ text: text('Any text.') }),
    access: 'viewer',
    effect: 'reads',
    run: async (_, { text: said }) => said,
  }),
  operationTool({
    name: 'list_models',
    description: 'Lists the models that chat may be asked for.',
    args: args({}),
    access: 'viewer',
    effect: 'reads',
    async run(operations, _, inner) {
      const { data } = await operations.call(compatModels.ListCompatModels, {}, inner);
      return { models: data.map(({ id, context_window: contextWindow }) => ({ id, contextWindow })) };
    },
  }),
  operationTool({
    name: 'chat',
    description: 'Asks a model and answers what it says.',
    args: args({
      model: text('The model, as list_models names it.'),
      prompt: text('What it is asked.'),
      system: optional(text('What it is told before.')),
      maxTokens: optional(whole('Tokens of the answer at most.')),
    }),
    access: 'member',
    effect: 'writes',
    async run(operations, { model, prompt, system, maxTokens }, inner) {
      const messages = [
        ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
        { role: 'user' as const, content: prompt },
      ];
      const body = { model, messages, ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }) };
      const { choices } = await operations.call(chat.ChatCompletion, { body }, inner);
      const { content, refusal } = choices[0]?.message ?? {};
      return content ?? refusal ?? '';
    },
  }),
  operationTool({
    name: 'memory_query',
    description: 'Finds what was stored in a memory collection, by meaning and by words.',
    args: args({
      collection: COLLECTION,
      query: text('What is looked for.'),
      topK: optional(whole('How many results; 10 when absent.')),
      filter: optional(texts('Metadata that must match exactly.')),
    }),
    access: 'member',
    effect: 'reads',
    run: (operations, { collection, query, topK, filter }, inner) =>
      operations.call(
        memoryDocuments.QueryCollection,
        {
          params: { collectionName: collection },
          body: {
            query,
            ...(topK === undefined ? {} : { topK }),
            ...(filter === undefined ? {} : { metadataFilter: filter }),
          },
        },
        inner,
      ),
  }),
  operationTool({
    name: 'memory_store',
    description: 'Stores a text in a memory collection, to be found again by memory_query.',
    args: args({
      collection: COLLECTION,
      content: text('The text.'),
      id: optional(text('A name for it; a text that is there under it is replaced.')),
      metadata: optional(texts('Metadata to filter by.')),
    }),
    access: 'member',
    effect: 'writes',
    run: (operations, { collection, content, id, metadata }, inner) =>
      operations.call(
        memoryDocuments.AddDocuments,
        {
          params: { collectionName: collection },
          body: {
            documents: [
              {
                content,
                ...(id === undefined ? {} : { id }),
                ...(metadata === undefined ? {} : { metadata }),
              },
            ],
          },
        },
        inner,
      ),
  }),
];
