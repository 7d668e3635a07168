import { endpoint, type Group } from '../endpoint.ts';
import {
  binary,
  enumeration,
  fields,
  ids,
  int32,
  model,
  object,
  oneOf,
  stringMap,
  struct,
  t,
  timestamp,
} from '../schema.ts';
import { McpTool } from './tools.ts';

/** How a server is talked to. */
export const McpTransportType = enumeration('McpTransportType', [
  'MCP_TRANSPORT_TYPE_UNSPECIFIED',
  'MCP_TRANSPORT_TYPE_SSE',
  'MCP_TRANSPORT_TYPE_STREAMABLE_HTTP',
  'MCP_TRANSPORT_TYPE_STDIO',
]);

/** How a server is authenticated to. */
export const McpAuthType = enumeration('McpAuthType', [
  'MCP_AUTH_TYPE_UNSPECIFIED',
  'MCP_AUTH_TYPE_NONE',
  'MCP_AUTH_TYPE_API_KEY',
  'MCP_AUTH_TYPE_BEARER',
  'MCP_AUTH_TYPE_OAUTH2',
]);

/** How the last health check of a server ended. */
export const McpServerHealthStatus = enumeration('McpServerHealthStatus', [
  'MCP_SERVER_HEALTH_STATUS_UNSPECIFIED',
  'MCP_SERVER_HEALTH_STATUS_HEALTHY',
  'MCP_SERVER_HEALTH_STATUS_UNHEALTHY',
  'MCP_SERVER_HEALTH_STATUS_UNKNOWN',
]);

/** The tools of a server that are offered, or the ones that are not. */
export const McpToolFilter = model('McpToolFilter', {
  type: oneOf('include', 'exclude'),
  tools: t.Array(t.String()),
});

/** The program that a stdio server is. It runs in a sandbox, never on the host. */
export const McpStdioConfig = model('McpStdioConfig', {
  command: t.String(),
  args: t.Array(t.String()),
  env: stringMap(),
  workingDir: t.String(),
  image: t.String({ description: 'The image of its sandbox; the setting mcp.image when absent.' }),
  sandboxId: t.String({ description: 'A sandbox of yours that it runs in, in place of one of its own.' }),
});

/** A tool server that the tenant has registered. */
export const McpServer = model('McpServer', {
  id: t.String(),
  tenantId: t.String(),
  name: t.String(),
  url: t.String(),
  transportType: McpTransportType,
  authType: McpAuthType,
  authConfig: t.Record(t.String(), t.Unknown(), {
    description: 'Credentials are masked in answers; a masked value sent back changes nothing.',
  }),
  toolFilter: McpToolFilter,
  headers: stringMap(),
  stdioConfig: McpStdioConfig,
  enabled: t.Boolean(),
  healthStatus: McpServerHealthStatus,
  healthLastCheck: timestamp(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
  toolCount: int32(),
});

const here = { spec: 'mcp', tag: 'MCP servers' } as const;

/** Tool servers that the tenant has registered. */
export const mcpServers = {
  ListMcpServers: endpoint({
    ...here,
    id: 'ListMcpServers',
    method: 'GET',
    path: '/v1/mcp/servers',
    summary: 'List the registered servers',
    query: fields({ tenantId: t.String(), enabledOnly: t.Boolean() }),
    response: model('ListMcpServersResponse', { servers: t.Array(McpServer) }),
    access: 'viewer',
  }),
  RegisterMcpServer: endpoint({
    ...here,
    id: 'RegisterMcpServer',
    method: 'POST',
    path: '/v1/mcp/servers',
    summary: 'Register a server and discover its tools',
    body: model('RegisterMcpServerRequest', {
      tenantId: t.String(),
      name: t.String(),
      url: t.String(),
      transportType: McpTransportType,
      authType: McpAuthType,
      authConfig: struct(),
      toolFilter: McpToolFilter,
      headers: stringMap(),
      stdioConfig: McpStdioConfig,
      enabled: t.Boolean(),
    }),
    response: model('RegisterMcpServerResponse', { server: McpServer, tools: t.Array(McpTool) }),
    access: 'admin',
  }),
  GetMcpServer: endpoint({
    ...here,
    id: 'GetMcpServer',
    method: 'GET',
    path: '/v1/mcp/servers/{id}',
    summary: 'Get a server',
    params: ids('id'),
    query: fields({ tenantId: t.String() }),
    response: model('GetMcpServerResponse', { server: McpServer }),
    access: 'viewer',
  }),
  UpdateMcpServer: endpoint({
    ...here,
    id: 'UpdateMcpServer',
    method: 'PATCH',
    path: '/v1/mcp/servers/{id}',
    summary: 'Change a server',
    params: ids('id'),
    body: model('McpServiceUpdateMcpServerBody', {
      tenantId: t.String(),
      name: t.String(),
      url: t.String(),
      transportType: McpTransportType,
      authType: McpAuthType,
      authConfig: struct(),
      toolFilter: McpToolFilter,
      headers: stringMap(),
      stdioConfig: McpStdioConfig,
      enabled: t.Boolean(),
    }),
    response: model('UpdateMcpServerResponse', { server: McpServer }),
    access: 'admin',
  }),
  DeleteMcpServer: endpoint({
    ...here,
    id: 'DeleteMcpServer',
    method: 'DELETE',
    path: '/v1/mcp/servers/{id}',
    summary: 'Remove a server, its tools and its credentials',
    params: ids('id'),
    query: fields({ tenantId: t.String() }),
    response: model('DeleteMcpServerResponse', {}),
    access: 'admin',
  }),
  GetMcpServerHealth: endpoint({
    ...here,
    id: 'GetMcpServerHealth',
    method: 'GET',
    path: '/v1/mcp/servers/{id}/health',
    summary: 'Tell how the last health check of a server ended',
    params: ids('id'),
    query: fields({ tenantId: t.String() }),
    response: model('GetMcpServerHealthResponse', {
      status: McpServerHealthStatus,
      lastCheck: timestamp(),
      error: t.String(),
    }),
    access: 'viewer',
  }),
  AuthorizeMcpServer: endpoint({
    ...here,
    spec: 'extra',
    id: 'AuthorizeMcpServer',
    method: 'POST',
    path: '/v1/mcp/servers/{id}/authorize',
    summary: 'Begin the authorization of a server that asks for OAuth 2',
    params: ids('id'),
    response: object('McpAuthorization', {
      authorizationUrl: t.String({ description: 'Where a person agrees.' }),
      redirectUri: t.String({ description: 'What the authorization server has to know of this instance.' }),
      expiresAt: timestamp(),
    }),
    access: 'admin',
  }),
  FinishMcpAuthorization: endpoint({
    ...here,
    spec: 'extra',
    id: 'FinishMcpAuthorization',
    method: 'GET',
    path: '/v1/mcp/oauth/callback',
    summary: 'Take a person back from an authorization server',
    query: fields({
      state: t.String(),
      code: t.String(),
      error: t.String(),
      error_description: t.String(),
      iss: t.String(),
      scope: t.String(),
      session_state: t.String(),
    }),
    response: binary('text/html'),
    stream: 'bytes',
    access: 'public',
  }),
} satisfies Group;
