import type { Dialect, ProviderAccount } from '../../providers/index.ts';
import type { Adapter } from './adapter.ts';
import { localAdapter } from './local/adapter.ts';
import { openaiAdapter } from './openai/adapter.ts';

/** Who speaks which dialect. */
const ADAPTERS: Readonly<Partial<Record<Dialect, Adapter>>> = {
  openai: openaiAdapter,
  azure: openaiAdapter,
  local: localAdapter,
};

const MUTE: Adapter = {};

/** The adapter of an account. */
export function adapterOf({ dialect }: ProviderAccount): Adapter {
  return ADAPTERS[dialect] ?? MUTE;
}
