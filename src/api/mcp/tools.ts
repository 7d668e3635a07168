import { endpoint, type Group } from '../endpoint.ts';
import {
  enumeration,
  fields,
  ids,
  int64,
  model,
  nullable,
  object,
  oneOf,
  open,
  struct,
  t,
  timestamp,
} from '../schema.ts';

/** How a call of a tool ended. */
export const McpToolCallStatus = enumeration('McpToolCallStatus', [
  'MCP_TOOL_CALL_STATUS_UNSPECIFIED',
  'MCP_TOOL_CALL_STATUS_SUCCESS',
  'MCP_TOOL_CALL_STATUS_ERROR',
  'MCP_TOOL_CALL_STATUS_TIMEOUT',
]);

/** A tool of a registered server. */
export const McpTool = model('McpTool', {
  id: t.String(),
  serverId: t.String(),
  name: t.String(),
  description: t.String(),
  inputSchema: struct(),
  annotations: struct(),
  discoveredAt: timestamp(),
  lastSeenAt: timestamp(),
});

/** A call of a tool and what came of it. */
export const McpToolCallResult = model('McpToolCallResult', {
  id: t.String(),
  serverId: t.String(),
  toolName: t.String(),
  tenantId: t.String(),
  status: McpToolCallStatus,
  inputArgs: struct(),
  output: t.String(),
  error: t.String(),
  latencyMs: int64(),
  createdAt: timestamp(),
});

const here = { spec: 'mcp', tag: 'MCP tools' } as const;

/** The tools of registered servers, and this service as a server itself. */
export const mcpTools = {
  DiscoverTools: endpoint({
    ...here,
    id: 'DiscoverTools',
    method: 'GET',
    path: '/v1/mcp/servers/{serverId}/tools',
    summary: 'Ask a server for its tools',
    params: ids('serverId'),
    query: fields({ tenantId: t.String() }),
    response: model('DiscoverToolsResponse', { tools: t.Array(McpTool) }),
    access: 'viewer',
  }),
  ListFederatedTools: endpoint({
    ...here,
    id: 'ListFederatedTools',
    method: 'GET',
    path: '/v1/mcp/tools',
    summary: 'List the tools of all servers',
    query: fields({ tenantId: t.String(), serverIds: t.Array(t.String()), namePrefix: t.String() }),
    response: model('ListFederatedToolsResponse', { tools: t.Array(McpTool) }),
    access: 'viewer',
  }),
  CallTool: endpoint({
    ...here,
    id: 'CallTool',
    method: 'POST',
    path: '/v1/mcp/tools/call',
    summary: 'Call a tool on its server',
    body: model('CallToolRequest', {
      tenantId: t.String(),
      serverId: t.String(),
      toolName: t.String(),
      arguments: struct(),
    }),
    response: model('CallToolResponse', { result: McpToolCallResult }),
    access: 'member',
  }),
  McpEndpoint: endpoint({
    ...here,
    spec: 'extra',
    id: 'McpEndpoint',
    method: 'POST',
    path: '/mcp',
    summary: 'Serve the tools of this service, by MCP over Streamable HTTP',
    headers: fields({ 'mcp-protocol-version': t.String(), 'mcp-method': t.String(), 'mcp-name': t.String() }),
    rawBody: 'application/json',
    bodyLimit: 4 * 1024 * 1024,
    body: open(
      'McpMessage',
      { jsonrpc: t.Literal('2.0') },
      { id: t.Union([t.String(), t.Integer()]), method: t.String(), params: struct() },
    ),
    response: open(
      'McpReply',
      { jsonrpc: t.Literal('2.0') },
      {
        id: nullable(t.Union([t.String(), t.Integer()])),
        result: struct(),
        error: open('McpError', { code: t.Integer(), message: t.String() }),
      },
    ),
    access: 'member',
  }),
  GetMcpClientConfig: endpoint({
    ...here,
    spec: 'guide',
    id: 'GetMcpClientConfig',
    method: 'GET',
    path: '/v1/mcp/config',
    summary: 'Print what connects an MCP client to this service',
    query: fields({ client: oneOf('claude', 'cursor', 'windsurf') }),
    response: open('McpClientConfig', { mcpServers: t.Record(t.String(), struct()) }),
    access: 'viewer',
  }),
  ListMcpToolSwitches: endpoint({
    ...here,
    spec: 'extra',
    id: 'ListMcpToolSwitches',
    method: 'GET',
    path: '/api/interop/mcp/tools',
    summary: 'List the tools of this service that were switched on or off',
    response: object('McpToolSwitches', { tools: t.Record(t.String(), t.Boolean()) }),
    access: 'viewer',
  }),
  SetMcpToolSwitch: endpoint({
    ...here,
    spec: 'extra',
    id: 'SetMcpToolSwitch',
    method: 'PUT',
    path: '/api/interop/mcp/tools/{name}',
    aliases: [{ method: 'POST', path: '/api/interop/mcp/tools/{name}' }],
    summary: 'Switch a tool of this service on or off',
    params: ids('name'),
    body: object('SetMcpToolSwitchRequest', { enabled: t.Boolean() }),
    response: object('McpToolSwitch', { name: t.String(), enabled: t.Boolean() }),
    access: 'admin',
  }),
} satisfies Group;
