import type { McpServer } from '../../../../src/api/mcp/servers.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { Health } from '../tables.ts';
import { WIRE_AUTH } from './auth.ts';
import { showConfig, type ToolFilter, WIRE_TRANSPORTS } from './config.ts';
import type { KnownServer } from './service.ts';

/** States of health as the API names them. */
export const WIRE_HEALTH = {
  unknown: 'MCP_SERVER_HEALTH_STATUS_UNKNOWN',
  healthy: 'MCP_SERVER_HEALTH_STATUS_HEALTHY',
  unhealthy: 'MCP_SERVER_HEALTH_STATUS_UNHEALTHY',
} as const satisfies Record<Health, string>;

/** A server as the API shows it: secrets as masks. */
export function toWire({ row, config, toolCount }: KnownServer): Value<typeof McpServer> {
  const { id, tenant: tenantId, name, enabled, toolFilter, healthCheckedAt } = row;
  return {
    ...{ id, tenantId, name, enabled, toolCount },
    transportType: WIRE_TRANSPORTS[row.transport],
    authType: WIRE_AUTH[row.auth],
    ...showConfig(config),
    ...(toolFilter === null ? {} : { toolFilter: wireFilter(toolFilter) }),
    healthStatus: WIRE_HEALTH[row.health],
    ...(healthCheckedAt === null ? {} : { healthLastCheck: rfc3339(healthCheckedAt) }),
    createdAt: rfc3339(row.createdAt),
    updatedAt: rfc3339(row.updatedAt),
  };
}

function wireFilter(text: string) {
  const { type, tools } = JSON.parse(text) as ToolFilter;
  return { type, tools: [...tools] };
}
