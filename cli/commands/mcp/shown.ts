import type { McpServer } from '../../../src/api/mcp/servers.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Cli } from '../../cli.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';

/** A server as the daemon tells of it. */
export type ShownServer = Value<typeof McpServer>;

/** The last word of a value of an enumeration: `healthy`, `stdio`. */
export function lastWord(prefix: string, value: string | undefined): string {
  return value?.replace(prefix, '').toLowerCase().replaceAll('_', '-') ?? '';
}

/** `healthy`, `unhealthy` or `unknown`; `off` when the server is disabled. */
export function stateText({ enabled, healthStatus }: ShownServer): string {
  return enabled ? lastWord('MCP_SERVER_HEALTH_STATUS_', healthStatus) : 'off';
}

/** Where it is, in one line. */
export function placeText({ url, stdioConfig }: ShownServer): string {
  return stdioConfig ? [stdioConfig.command, ...(stdioConfig.args ?? [])].join(' ') : (url ?? '');
}

/** Prints a server. */
export function showServer(cli: Cli, shown: ShownServer, json: true | undefined): void {
  if (json) {
    showJson(cli, shown);
    return;
  }
  const { stdioConfig: program, toolFilter } = shown;
  const named = (what: string, values: Readonly<Record<string, unknown>> = {}) =>
    Object.entries(values).map(([name, value]) => [`${what} ${name}`, String(value)] as const);
  showFields(cli, [
    ['id', shown.id],
    ['name', shown.name],
    ['transport', lastWord('MCP_TRANSPORT_TYPE_', shown.transportType)],
    ['at', placeText(shown)],
    ['sandbox', program?.sandboxId],
    ['image', program?.image],
    ...named('env', program?.env),
    ['auth', lastWord('MCP_AUTH_TYPE_', shown.authType)],
    ...named('auth', shown.authConfig),
    ...named('header', shown.headers),
    ['tools', String(shown.toolCount ?? 0)],
    [toolFilter?.type ?? 'include', toolFilter?.tools?.join(', ')],
    ['state', stateText(shown)],
    ['checked', shown.healthLastCheck && relativeTime(shown.healthLastCheck)],
    ['changed', relativeTime(shown.updatedAt)],
  ]);
}
