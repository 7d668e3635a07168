import type { Input } from '../../../../src/api/endpoint.ts';
import type { mcpServers } from '../../../../src/api/mcp/servers.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import type { Transport } from '../tables.ts';
import { type Auth, readAuth, showAuth } from './auth.ts';
import { checkHeaders, readUrl } from './checks.ts';
import { hide, type Kept, reveal, secretHeader } from './hidden.ts';
import { readStdio, type Stdio, showStdio } from './stdio-config.ts';

/** A server as a caller wants it; in a change, only what is to be another. */
export type WantedServer = Input<typeof mcpServers.UpdateMcpServer>['body'];

/** Where a server is and how it is talked to, with its secrets. */
export interface ServerConfig {
  readonly transport: Transport;
  /** Empty for a program. */
  readonly url: string;
  readonly auth: Auth;
  readonly headers: Readonly<Record<string, string>>;
  /** The program; of a stdio server alone. */
  readonly stdio?: Stdio;
}

/** The tools that are offered, or those that are not. */
export interface ToolFilter {
  readonly type: 'include' | 'exclude';
  readonly tools: readonly string[];
}

const WIRE = {
  MCP_TRANSPORT_TYPE_SSE: 'sse',
  MCP_TRANSPORT_TYPE_STREAMABLE_HTTP: 'http',
  MCP_TRANSPORT_TYPE_STDIO: 'stdio',
} as const;

/** Transports as the API names them. */
export const WIRE_TRANSPORTS = {
  http: 'MCP_TRANSPORT_TYPE_STREAMABLE_HTTP',
  sse: 'MCP_TRANSPORT_TYPE_SSE',
  stdio: 'MCP_TRANSPORT_TYPE_STDIO',
} as const;

const MOST_FILTERED = 1_000;

/**
 * The configuration that a request asks for, over what was there before: what it does not name stays, and so does a secret
 * that comes back as its mask. Errors: invalid_argument naming the field, also for secrets that would go elsewhere.
 */
export function readConfig(sent: WantedServer, earlier?: ServerConfig): ServerConfig {
  const transport = transportOf(sent) ?? earlier?.transport ?? (sent.stdioConfig ? 'stdio' : 'http');
  const before = earlier?.transport === transport ? earlier : undefined;
  return transport === 'stdio' ? readProgram(sent, before) : readRemote(sent, transport, earlier);
}

/** A filter of a request. Errors: invalid_argument. */
export function readFilter(sent: WantedServer['toolFilter']): ToolFilter | undefined {
  const { type, tools = [] } = sent ?? {};
  if (type === undefined && tools.length === 0) return undefined;
  if (type === undefined) throw invalid({ field: 'toolFilter.type', description: 'is required' });
  if (tools.length > MOST_FILTERED)
    throw invalid({ field: 'toolFilter.tools', description: `has at most ${MOST_FILTERED} names` });
  return { type, tools: [...new Set(tools)] };
}

/** A configuration as it is shown: secrets as masks. */
export function showConfig({ url, auth, headers, stdio }: ServerConfig) {
  return {
    url,
    authConfig: showAuth(auth),
    headers: hide(headers, secretHeader),
    ...(stdio ? { stdioConfig: showStdio(stdio) } : {}),
  };
}

function readProgram(sent: WantedServer, earlier: ServerConfig | undefined): ServerConfig {
  const refuse = (field: string) => invalid({ field, description: 'is not for a stdio server' });
  if (sent.url) throw refuse('url');
  if (Object.keys(sent.headers ?? {}).length > 0) throw refuse('headers');
  const auth = readAuth(sent, undefined).auth;
  if (auth.kind !== 'none')
    throw invalid({ field: 'authType', description: 'is none for a program: give it stdioConfig.env' });
  return {
    transport: 'stdio',
    url: '',
    auth,
    headers: {},
    stdio: readStdio(sent.stdioConfig ?? {}, earlier?.stdio),
  };
}

function readRemote(
  sent: WantedServer,
  transport: 'http' | 'sse',
  earlier: ServerConfig | undefined,
): ServerConfig {
  if (sent.stdioConfig) throw invalid({ field: 'stdioConfig', description: 'is for a stdio server' });
  const url = readUrl(sent.url ?? earlier?.url ?? '', 'url');
  const headers = reveal(sent.headers, earlier?.headers ?? {}, secretHeader, 'headers');
  checkHeaders(headers.values, 'headers');
  const { auth, keepsSecrets } = readAuth(sent, earlier?.auth);
  refuseMoved(earlier?.url, url, { keepsSecrets: keepsSecrets || headers.keepsSecrets });
  return { transport, url, auth, headers: headers.values };
}

/** Nobody may have stored secrets sent to another server than they were given for. */
function refuseMoved(before: string | undefined, after: string, { keepsSecrets }: Kept): void {
  if (!before || !keepsSecrets || new URL(before).origin === new URL(after).origin) return;
  throw invalid({ field: 'url', description: 'is another server; send the secrets that go there with it' });
}

function transportOf({ transportType: wire }: WantedServer): Transport | undefined {
  return wire === undefined || wire === 'MCP_TRANSPORT_TYPE_UNSPECIFIED' ? undefined : WIRE[wire];
}
