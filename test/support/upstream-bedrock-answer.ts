import { createHash } from 'node:crypto';
import { backwards, valueFor } from './fake-provider.ts';
import { BedrockRefusal } from './upstream-bedrock-rules.ts';

/** A block of a request or an answer. */
export interface BedrockBlock {
  text?: string;
  image?: { format: string; source: { bytes?: string } };
  document?: { format: string; name: string; source: { bytes?: string } };
  toolUse?: { toolUseId: string; name: string; input: unknown };
  toolResult?: { toolUseId: string; content: BedrockBlock[]; status?: string };
  reasoningContent?: { reasoningText?: { text: string; signature?: string } };
  cachePoint?: { type: string };
}

/** What is read of a request. */
export interface BedrockAsk {
  messages: { role: string; content: BedrockBlock[] }[];
  system?: BedrockBlock[];
  inferenceConfig?: { maxTokens?: number; temperature?: number; topP?: number };
  toolConfig?: {
    tools: { toolSpec?: { name: string; inputSchema: { json: { type?: string } } }; cachePoint?: object }[];
    toolChoice?: { auto?: object; any?: object; tool?: { name: string } };
  };
  additionalModelRequestFields?: { thinking?: { type: string; budget_tokens?: number } };
  outputConfig?: { textFormat: { structure: { jsonSchema: { schema: string } } } };
}

/** A whole answer. */
export interface BedrockAnswer {
  output: { message: { role: 'assistant'; content: BedrockBlock[] } };
  stopReason: string;
  usage: object;
  metrics: object;
}

/** The signature of a thought. */
export const thoughtSignature = (text: string) => createHash('sha256').update(text).digest('base64');

/** The whole answer to a request. */
export function answerBedrock(ask: BedrockAsk, model: string): BedrockAnswer {
  const content = [...thoughts(ask), ...blocksFor(ask, model)];
  const caches = JSON.stringify(ask).includes('"cachePoint"');
  const inputTokens = JSON.stringify(ask.messages).match(/\S+/g)?.length ?? 0;
  const outputTokens = JSON.stringify(content).match(/\S+/g)?.length ?? 0;
  const cached = caches ? { cacheReadInputTokens: 5, cacheWriteInputTokens: 3 } : {};
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: model.includes('guarded')
      ? 'guardrail_intervened'
      : content.some(({ toolUse }) => toolUse)
        ? 'tool_use'
        : 'end_turn',
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, ...cached },
    metrics: { latencyMs: 1 },
  };
}

function thoughts(ask: BedrockAsk): BedrockBlock[] {
  if (!ask.additionalModelRequestFields?.thinking) return [];
  const text = `I turn ${askedText(ask).length} letters. `;
  return [{ reasoningContent: { reasoningText: { text, signature: thoughtSignature(text) } } }];
}

function askedText({ messages }: BedrockAsk): string {
  const last = messages.findLast(({ role, content }) => role === 'user' && content.some(({ text }) => text));
  return last?.content.map(({ text }) => text ?? '').join(' ') ?? '';
}

function blocksFor(ask: BedrockAsk, model: string): BedrockBlock[] {
  const last = ask.messages.at(-1)?.content ?? [];
  const said = backwards(askedText(ask)).join(' ');
  const results = last.flatMap(({ toolResult }) => toolResult ?? []);
  const { tools = [], toolChoice } = ask.toolConfig ?? {};
  const specs = tools.flatMap(({ toolSpec }) => toolSpec ?? []);
  if (results.length > 0 && !toolChoice?.tool)
    return [
      {
        text: results
          .map(
            ({ toolUseId, content }) =>
              `${nameOf(ask, toolUseId)} gave ${content.map(describe).join(' and ')}`,
          )
          .join('; '),
      },
    ];
  const called = specs.filter(({ name }) => !toolChoice?.tool || toolChoice.tool.name === name);
  if (called.length > 0 && (toolChoice || model.includes('eager')))
    return called.map(({ name, inputSchema }, place) => ({
      toolUse: { toolUseId: `tooluse_${name}_${place}`, name, input: valueFor(inputSchema.json, said) },
    }));
  const schema = ask.outputConfig?.textFormat.structure.jsonSchema.schema;
  if (schema) return [{ text: JSON.stringify(valueFor(JSON.parse(schema), said)) }];
  const system = ask.system?.flatMap(({ text }) => text ?? []).join(' ');
  const media = last.filter((block) => block.image || block.document).map(describe);
  return [{ text: [said, ...(system ? [`(${system})`] : []), ...media].join(' ') }];
}

function nameOf({ messages }: BedrockAsk, id: string): string {
  return (
    messages.flatMap(({ content }) => content).find(({ toolUse }) => toolUse?.toolUseId === id)?.toolUse
      ?.name ?? '?'
  );
}

function describe({ text, image, document }: BedrockBlock): string {
  const size = (source: { bytes?: string }) => Buffer.from(source.bytes ?? '', 'base64').length;
  if (image) return `${image.format}:${size(image.source)}`;
  return document ? `${document.name}.${document.format}:${size(document.source)}` : String(text);
}

/** The same answer as events of ConverseStream. */
export function eventsOf(
  { output, stopReason, usage, metrics }: BedrockAnswer,
  seed: number,
): [string, object][] {
  const blocks = output.message.content.flatMap((block, contentBlockIndex): [string, object][] => [
    ...(block.toolUse
      ? [
          [
            'contentBlockStart',
            {
              contentBlockIndex,
              start: { toolUse: { toolUseId: block.toolUse.toolUseId, name: block.toolUse.name } },
            },
          ] as [string, object],
        ]
      : []),
    ...deltasOf(block, seed).map((delta): [string, object] => [
      'contentBlockDelta',
      { contentBlockIndex, delta },
    ]),
    ['contentBlockStop', { contentBlockIndex }],
  ]);
  return [
    ['messageStart', { role: 'assistant' }],
    ...blocks,
    ['messageStop', { stopReason }],
    ['metadata', { usage, metrics }],
  ];
}

function deltasOf({ text, toolUse, reasoningContent }: BedrockBlock, seed: number): object[] {
  if (text !== undefined) return (text.match(/\S+\s*/g) ?? []).map((piece) => ({ text: piece }));
  if (toolUse) {
    const input = JSON.stringify(toolUse.input);
    if (input === '{}') return [];
    return (input.match(new RegExp(`.{1,${3 + (seed % 5)}}`, 'gs')) ?? []).map((piece) => ({
      toolUse: { input: piece },
    }));
  }
  const { text: thought = '', signature } = reasoningContent?.reasoningText ?? {};
  return [
    ...(thought.match(/\S+\s*/g) ?? []).map((piece) => ({ reasoningContent: { text: piece } })),
    { reasoningContent: { signature } },
  ];
}

/** Embeddings by InvokeModel: one text a call by Titan, many by Cohere. */
export function embedOne(
  model: string,
  body: {
    inputText?: string;
    dimensions?: number;
    texts?: string[];
    input_type?: string;
    embedding_types?: string[];
  },
): Response {
  const vector = (text: string, size = 4) =>
    Array.from(
      { length: size },
      (_, place) => (createHash('sha256').update(text).digest()[place % 32] ?? 0) / 256,
    );
  if (model.startsWith('amazon.titan-embed')) {
    if (body.inputText === undefined) throw new BedrockRefusal('required key [inputText] not found');
    return Response.json({
      embedding: vector(body.inputText, body.dimensions),
      inputTextTokenCount: body.inputText.split(' ').length,
    });
  }
  if (!body.texts || !body.input_type) throw new BedrockRefusal('required key [input_type] not found');
  if (body.texts.length > 96) throw new BedrockRefusal('texts: maximum size exceeded');
  const embeddings = body.texts.map((text) => vector(text));
  const answer = body.embedding_types
    ? { embeddings: { float: embeddings }, response_type: 'embeddings_by_type' }
    : { embeddings };
  return Response.json(answer, {
    headers: { 'x-amzn-bedrock-input-token-count': String(body.texts.length) },
  });
}
