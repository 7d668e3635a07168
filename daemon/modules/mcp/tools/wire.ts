import type { McpTool, McpToolCallResult } from '../../../../src/api/mcp/tools.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { ToolRow } from '../tables.ts';
import type { CallResult } from './service.ts';

/** A tool as the API shows it, under a name and description of the asker's choice. */
export function toolToWire(
  row: ToolRow,
  { name, description }: { name: string; description: string } = row,
): Value<typeof McpTool> {
  const { id, serverId } = row;
  return {
    ...{ id, serverId, name, description },
    inputSchema: JSON.parse(row.inputSchema) as Record<string, unknown>,
    annotations: JSON.parse(row.annotations) as Record<string, unknown>,
    discoveredAt: rfc3339(row.discoveredAt),
    lastSeenAt: rfc3339(row.lastSeenAt),
  };
}

const STATUS = {
  success: 'MCP_TOOL_CALL_STATUS_SUCCESS',
  error: 'MCP_TOOL_CALL_STATUS_ERROR',
  timeout: 'MCP_TOOL_CALL_STATUS_TIMEOUT',
} as const;

/** A call as the API shows it. */
export function callToWire(
  { status, latencyMs, createdAt, ...result }: CallResult,
  tenantId: string,
  args: Readonly<Record<string, unknown>>,
): Value<typeof McpToolCallResult> {
  return {
    ...result,
    tenantId,
    status: STATUS[status],
    inputArgs: { ...args },
    latencyMs: String(latencyMs),
    createdAt: rfc3339(createdAt),
  };
}
