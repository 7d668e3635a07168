import { expect, test } from 'bun:test';
import type { FeaturesValue } from '../../settings/index.ts';
import type { ModelCall } from './call.ts';
import { checkFeatures } from './features.ts';

const all: FeaturesValue = {
  enableStreaming: true,
  enableEmbeddings: true,
  enableFunctionCalling: true,
  enableResponseCaching: true,
  enableSse: true,
  enableRequestLogging: true,
  enableHealthChecks: true,
  enableAgents: true,
};
const call = (surface: string, request: object) =>
  ({ surface, request: { model: 'm', ...request } }) as unknown as ModelCall;

test.each([
  ['enableStreaming', call('chat', { stream: true })],
  ['enableSse', call('messages', { stream: true })],
  ['enableEmbeddings', call('embeddings', {})],
  ['enableFunctionCalling', call('chat', { tools: [{ type: 'function' }] })],
] as const)('%s off refuses what needs it, and nothing else', (name, wanted) => {
  expect(() => checkFeatures(all, wanted)).not.toThrow();
  expect(() => checkFeatures({ ...all, [name]: false }, wanted)).toThrow(`off for this tenant`);
  expect(() =>
    checkFeatures({ ...all, [name]: false }, call('chat', { tools: [], stream: false })),
  ).not.toThrow();
});
