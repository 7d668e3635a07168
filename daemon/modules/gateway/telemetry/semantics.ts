import type { Surface } from '../pipeline/call.ts';
import type { RequestRecord } from '../pipeline/record.ts';

/** What a surface does, in the words of the GenAI conventions where they have one (gen_ai.operation.name). */
const OPERATIONS: Readonly<Partial<Record<Surface, string>>> = {
  chat: 'chat',
  messages: 'chat',
  responses: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
};

/** Providers that the GenAI conventions call otherwise (gen_ai.provider.name). */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  moonshot: 'moonshot_ai',
};

/** The operation of a surface; its own name where the conventions have none. */
export function operationOf(surface: Surface): string {
  return OPERATIONS[surface] ?? surface;
}

/** A provider as the conventions call it. */
export function providerName(provider: string): string {
  return Object.hasOwn(PROVIDERS, provider) ? (PROVIDERS[provider] ?? provider) : provider;
}

/** A provider and its own name of a model. */
export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

/** The parts of `<provider>/<model>`. */
export function splitModel(full: string): ModelName {
  const slash = full.indexOf('/');
  return { provider: full.slice(0, slash), model: full.slice(slash + 1) };
}

/** Who answered a request, or else who was asked last; without a model when none answered. */
export function answererOf({ model, attempts }: RequestRecord): Partial<ModelName> {
  if (model !== undefined) return splitModel(model);
  const last = attempts.at(-1);
  return last ? { provider: splitModel(last.model).provider } : {};
}
