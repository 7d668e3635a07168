import type { FunctionDefinition } from '../../../src/api/functions/functions.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Cli } from '../../cli.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';

/** A function as the daemon tells of it. */
export type ShownFunction = Value<typeof FunctionDefinition>;

/** `webhook`, `proxy` or `isolated`. */
export function modeText({ mode }: ShownFunction): string {
  return mode?.replace('EXECUTION_MODE_', '').toLowerCase() ?? '';
}

/** Where it leads, in one line. */
export function placeText({ webhook, proxy, isolated }: ShownFunction): string {
  if (webhook) return `${webhook.method} ${webhook.url}`;
  if (proxy) return `${proxy.method} ${proxy.baseUrl}${proxy.path}`;
  return isolated?.runtime ?? '';
}

/** Prints a function. */
export function showFunction(cli: Cli, shown: ShownFunction, json: true | undefined): void {
  if (json) {
    showJson(cli, shown);
    return;
  }
  const { webhook, proxy } = shown;
  const mappings = { query: proxy?.queryMapping, body: proxy?.bodyMapping, result: proxy?.responseMapping };
  showFields(cli, [
    ['id', shown.id],
    ['name', shown.name],
    ['description', shown.description || undefined],
    ['mode', modeText(shown)],
    ['calls', placeText(shown)],
    ...Object.entries({ ...webhook?.headers, ...proxy?.headerMapping }).map(
      ([name, value]) => [`header ${name}`, value] as const,
    ),
    ...Object.entries(mappings).flatMap(([what, mapping]) =>
      Object.entries(mapping ?? {}).map(([name, value]) => [`${what} ${name}`, value] as const),
    ),
    ['secret', webhook?.secret],
    ['timeout', `${shown.timeoutMs} ms`],
    ['memory', shown.isolated ? `${shown.memoryMb} MB` : undefined],
    ['retries', String(shown.maxRetries)],
    ['state', shown.enabled ? 'on' : 'off'],
    ['parameters', JSON.stringify(shown.parameters)],
    ['changed', relativeTime(shown.updatedAt)],
  ]);
}
