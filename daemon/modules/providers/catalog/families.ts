import type { Capability, Family } from './entry.ts';

/** Conversations, whole and streamed. */
export const TALK: readonly Capability[] = ['chat', 'streaming'];
/** Functions that a model may call. */
export const TOOLS: readonly Capability[] = ['functionCalling'];
/** Pictures in conversations. */
export const VISION: readonly Capability[] = ['vision'];

/** Makes a family of models. */
export function family(
  name: string,
  description: string,
  pattern: RegExp,
  ...capabilities: readonly string[]
): Family {
  return { name, description, pattern, capabilities };
}

/** Families that many hosts of open weights have. */
export const OPEN_WEIGHTS: readonly Family[] = [
  family('Llama', 'Text and pictures, by Meta', /llama/i, 'chat', 'functionCalling'),
  family('Qwen', 'Text, code and reasoning, by Alibaba', /qwen|qwq/i, 'chat', 'functionCalling'),
  family('DeepSeek', 'Text and reasoning, by DeepSeek', /deepseek/i, 'chat', 'functionCalling', 'reasoning'),
  family('GPT-OSS', 'Reasoning, by OpenAI', /gpt-oss/i, 'chat', 'functionCalling', 'reasoning'),
  family('Mistral', 'Text, by Mistral AI', /mistral|mixtral/i, 'chat', 'functionCalling'),
  family('Gemma', 'Text, by Google', /gemma/i, 'chat'),
  family('Kimi', 'Text and tools, by Moonshot AI', /kimi/i, 'chat', 'functionCalling'),
  family('GLM', 'Text and tools, by Z.ai', /glm/i, 'chat', 'functionCalling'),
  family('Phi', 'Small models, by Microsoft', /(^|\/)phi-/i, 'chat'),
  family('Whisper', 'Transcripts, by OpenAI', /whisper/i, 'audio'),
];
