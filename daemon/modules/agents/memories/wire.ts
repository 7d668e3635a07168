import type { AgentMemoryEntry } from '../../../../src/api/agents/memories.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { MemoryRow } from './tables.ts';

/** A memory as the API shows it. */
export function memoryToWire(row: MemoryRow): Value<typeof AgentMemoryEntry> {
  const {
    id,
    agentId,
    tenant: tenantId,
    type: memoryType,
    content,
    factKey,
    confidence,
    source,
    scope,
  } = row;
  return {
    ...{ id, agentId, tenantId, memoryType, content, factKey, confidence, source, scope },
    userId: row.userId,
    accessCount: row.accessCount,
    isActive: row.active,
    createdAt: rfc3339(row.createdAt),
    updatedAt: rfc3339(row.updatedAt),
    ...(row.sessionId === null ? {} : { sourceSessionId: row.sessionId }),
    ...(row.turnNumber === null ? {} : { sourceTurnNumber: row.turnNumber }),
    ...(row.supersededBy === null ? {} : { supersededBy: row.supersededBy }),
    ...(row.lastAccessedAt === null ? {} : { lastAccessedAt: rfc3339(row.lastAccessedAt) }),
  };
}
