import type { Input } from '../../../../src/api/endpoint.ts';
import type { functions } from '../../../../src/api/functions/functions.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { type Isolated, readIsolated, showIsolated } from './isolated.ts';
import { type MappedCall, readProxy, showProxy } from './proxy.ts';
import { readWebhook, showWebhook, type Webhook } from './webhook.ts';

/** How a function is carried out. */
export type FunctionConfig =
  | { readonly mode: 'webhook'; readonly webhook: Webhook }
  | { readonly mode: 'proxy'; readonly proxy: MappedCall }
  | { readonly mode: 'isolated'; readonly isolated: Isolated };

/** One of the three ways. */
export type Mode = FunctionConfig['mode'];

/** What a request may say of it. */
export type SentConfig = Pick<
  Input<typeof functions.CreateFunction>['body'],
  'mode' | 'webhook' | 'proxy' | 'isolated'
>;

const MODES = {
  EXECUTION_MODE_WEBHOOK: 'webhook',
  EXECUTION_MODE_PROXY: 'proxy',
  EXECUTION_MODE_ISOLATED: 'isolated',
} as const;

/** A mode of the API as it is here; undefined when none is named. */
export function modeOf(wire: SentConfig['mode']): Mode | undefined {
  return wire === undefined || wire === 'EXECUTION_MODE_UNSPECIFIED' ? undefined : MODES[wire];
}

/** A mode as the API names it. */
export const WIRE_MODES = {
  webhook: 'EXECUTION_MODE_WEBHOOK',
  proxy: 'EXECUTION_MODE_PROXY',
  isolated: 'EXECUTION_MODE_ISOLATED',
} as const;

/**
 * The configuration that a request asks for, over what was there before: what it does not name stays. Without a mode it is
 * that of the part which is sent. Errors: invalid_argument naming the field.
 */
export function readConfig(sent: SentConfig, earlier?: FunctionConfig): FunctionConfig {
  const parts = (['webhook', 'proxy', 'isolated'] as const).filter((name) => sent[name] !== undefined);
  const mode = modeOf(sent.mode) ?? earlier?.mode ?? (parts.length === 1 ? parts[0] : undefined);
  if (!mode) throw invalid({ field: 'mode', description: 'must be one of webhook, proxy, isolated' });
  const foreign = parts.find((name) => name !== mode);
  if (foreign) throw invalid({ field: foreign, description: `is for functions of the mode ${foreign}` });
  switch (mode) {
    case 'webhook':
      return { mode, webhook: readWebhook(sent.webhook ?? {}, of(earlier, 'webhook')?.webhook) };
    case 'proxy':
      return { mode, proxy: readProxy(sent.proxy ?? {}, of(earlier, 'proxy')?.proxy) };
    case 'isolated':
      return { mode, isolated: readIsolated(sent.isolated ?? {}, of(earlier, 'isolated')?.isolated) };
  }
}

/** A configuration as it is shown: secrets as masks. */
export function showConfig(config: FunctionConfig) {
  switch (config.mode) {
    case 'webhook':
      return { webhook: showWebhook(config.webhook) };
    case 'proxy':
      return { proxy: showProxy(config.proxy) };
    case 'isolated':
      return { isolated: showIsolated(config.isolated) };
  }
}

function of<M extends Mode>(config: FunctionConfig | undefined, mode: M) {
  return config?.mode === mode ? (config as Extract<FunctionConfig, { mode: M }>) : undefined;
}
