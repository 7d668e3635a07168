import type { Output } from '../../../src/api/endpoint.ts';
import type { otlpSettings } from '../../../src/api/sandbox/otlp.ts';
import type { Cli } from '../../cli.ts';
import { showFields, showJson } from '../../ui/show.ts';

/** Prints where metrics and traces go. */
export function showSettings(
  cli: Cli,
  settings: Output<typeof otlpSettings.GetOtlpSettings>,
  json: true | undefined,
): void {
  if (json) {
    showJson(cli, settings);
    return;
  }
  const { endpoint, headers = {}, extra_labels: labels = {}, enabled } = settings;
  showFields(cli, [
    ['enabled', enabled ? 'yes' : 'no'],
    ['endpoint', endpoint || '(none)'],
    ...Object.entries(headers).map(([name, value]) => [`header ${name}`, value] as const),
    ...Object.entries(labels).map(([name, value]) => [`label ${name}`, value] as const),
  ]);
}
