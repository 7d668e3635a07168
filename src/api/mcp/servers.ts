import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, fields, ids, int32, model, oneOf, stringMap, struct, t, timestamp } from '../schema.ts';
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

/** The program that a stdio server is. */
export const McpStdioConfig = model('McpStdioConfig', {
  command: t.String(),
  args: t.Array(t.String()),
  env: stringMap(),
  workingDir: t.String(),
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
    unbuilt: true,
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
    unbuilt: true,
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
    unbuilt: true,
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
    unbuilt: true,
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
    unbuilt: true,
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
    unbuilt: true,
  }),
} satisfies Group;
