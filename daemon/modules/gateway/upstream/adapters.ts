import type { Dialect, ProviderAccount } from '../../providers/index.ts';
import type { Adapter } from './adapter.ts';
import { anthropicAdapter } from './anthropic/adapter.ts';
import { bedrockAdapter } from './bedrock/adapter.ts';
import { cohereAdapter } from './cohere/adapter.ts';
import { geminiAdapter } from './gemini/adapter.ts';
import { jinaAdapter } from './jina/adapter.ts';
import { localAdapter } from './local/adapter.ts';
import { openaiAdapter } from './openai/adapter.ts';
import { vertexAdapter } from './vertex/adapter.ts';
import { voyageAdapter } from './voyage/adapter.ts';

/** Who speaks which dialect. */
const ADAPTERS: Readonly<Partial<Record<Dialect, Adapter>>> = {
  openai: openaiAdapter,
  azure: openaiAdapter,
  anthropic: anthropicAdapter,
  gemini: geminiAdapter,
  vertex: vertexAdapter,
  bedrock: bedrockAdapter,
  cohere: cohereAdapter,
  voyage: voyageAdapter,
  jina: jinaAdapter,
  local: localAdapter,
};

const MUTE: Adapter = {};

/** The adapter of an account. */
export function adapterOf({ dialect }: ProviderAccount): Adapter {
  return ADAPTERS[dialect] ?? MUTE;
}
