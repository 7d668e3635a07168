import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, fields, ids, int64, model, nullable, open, struct, t, timestamp } from '../schema.ts';

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
    unbuilt: true,
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
    unbuilt: true,
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
    unbuilt: true,
  }),
  McpEndpoint: endpoint({
    ...here,
    spec: 'extra',
    id: 'McpEndpoint',
    method: 'POST',
    path: '/mcp',
    summary: 'Serve the tools of this service, by MCP over Streamable HTTP',
    headers: fields({ 'mcp-protocol-version': t.String(), 'mcp-session-id': t.String() }),
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
    unbuilt: true,
  }),
} satisfies Group;
