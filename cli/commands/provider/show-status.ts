import type { ProviderStatus } from '../../../src/api/providers/catalog.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Cli } from '../../cli.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';

/** A provider as the daemon tells of it. */
export type Status = Value<typeof ProviderStatus>;

/** `ready`, what is wrong, or that it is not set up. */
export function stateOf({ isActive, isConfigured, configuration }: Status): string {
  if (isActive) return 'ready';
  return configuration?.problem ?? (isConfigured ? 'not ready' : 'not set up');
}

/** Where a provider comes from, in words. */
export function originOf({ configuration }: Status): string {
  const words = {
    own: 'set up here',
    environment: 'environment',
    file: 'svc.yaml',
    found: 'found by itself',
  };
  return configuration?.origin ? words[configuration.origin] : '';
}

/** Prints a provider. */
export function showStatus(cli: Cli, status: Status, json: true | undefined): void {
  if (json) {
    showJson(cli, status);
    return;
  }
  const { catalog = {}, configuration } = status;
  showFields(cli, [
    ['name', catalog.name],
    ['state', stateOf(status)],
    ['from', originOf(status)],
    ['id', configuration?.id],
    ['key', configuration?.apiKey],
    ['address', configuration?.customBaseUrl || catalog.baseUrl],
    ['dialect', catalog.dialect],
    ['models', configuration?.enabledModels?.join(', ') || (configuration ? 'all' : undefined)],
    ...Object.entries(configuration?.customSettings ?? {}).map(
      ([name, value]) => [`setting ${name}`, value] as const,
    ),
    ...(configuration ? [] : settingsOf(status)),
    ['variables', configuration ? undefined : catalog.environment?.join(', ')],
    ['last used', configuration ? relativeTime(configuration.lastUsedAt) || 'never' : undefined],
  ]);
}

function settingsOf({ catalog }: Status): ReadonlyArray<readonly [string, string]> {
  return (catalog?.settings ?? []).map(({ name = '', description = '', isRequired, default: usual }) => [
    `setting ${name}`,
    `${description}${isRequired ? ' (needed)' : usual ? ` (${usual} when absent)` : ''}`,
  ]);
}
