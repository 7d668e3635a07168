import type { ChatRequest } from '../../wire/chat.ts';
import type { Adapter, ModelInfo, StreamedChat, Upstream, WholeChat } from '../adapter.ts';
import { readJson } from '../translate/answer.ts';
import { streamedChat, wholeChat } from '../translate/stream.ts';
import { callModel, signedCall } from './call.ts';
import { embed } from './embeddings.ts';
import { ConverseReader } from './reader.ts';
import { toConverse } from './request.ts';
import { overFrames } from './stream.ts';
import type { ConverseAnswer } from './wire.ts';

/** Amazon Bedrock: every model through Converse, embeddings through InvokeModel. */
export const bedrockAdapter: Adapter = { chat: converse, relay: { embeddings: embed }, models: listModels };

async function converse(request: ChatRequest, upstream: Upstream): Promise<WholeChat | StreamedChat> {
  const { name } = upstream.account;
  const { body, answersByTool } = toConverse(request);
  const response = await callModel(
    upstream,
    request.model,
    request.stream ? 'converse-stream' : 'converse',
    body,
  );
  const reader = new ConverseReader(request.model, name, answersByTool);
  if (request.stream) return streamedChat(response, upstream, overFrames(reader, name));
  return wholeChat(response, reader.whole((await readJson(response, upstream)) as ConverseAnswer));
}

interface Models {
  readonly modelSummaries?: readonly {
    readonly modelId?: string;
    readonly inferenceTypesSupported?: readonly string[];
  }[];
  readonly inferenceProfileSummaries?: readonly { readonly inferenceProfileId?: string }[];
}

/** Models that can be called by their own id, and the profiles through which the others are. */
async function listModels(upstream: Upstream): Promise<ModelInfo[]> {
  const base = controlPlane(upstream.account.baseUrl);
  const read = async (path: string) =>
    (await readJson(await signedCall(upstream, base + path), upstream)) as Models;
  const [{ modelSummaries = [] }, { inferenceProfileSummaries = [] }] = await Promise.all([
    read('/foundation-models'),
    read('/inference-profiles?maxResults=1000'),
  ]);
  const ids = [
    ...modelSummaries.flatMap(({ modelId, inferenceTypesSupported: types }) =>
      types?.includes('ON_DEMAND') ? modelId : [],
    ),
    ...inferenceProfileSummaries.map(({ inferenceProfileId }) => inferenceProfileId),
  ];
  return ids.flatMap((id) => (id ? [{ id, created: 0 }] : []));
}

/** Lists are kept by a host of their own; any other address than the provider's has both. */
function controlPlane(baseUrl: string): string {
  const own =
    /^https:\/\/bedrock-runtime(-fips)?(\.[a-z0-9-]+\.(?:amazonaws\.com|amazonaws\.com\.cn|api\.aws))$/.exec(
      baseUrl,
    );
  return own ? `https://bedrock${own[1] ?? ''}${own[2]}` : '';
}
