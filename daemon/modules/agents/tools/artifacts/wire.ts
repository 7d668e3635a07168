import type { AgentArtifact } from '../../../../../src/api/agents/artifacts.ts';
import type { Value } from '../../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../../src/kit/time.ts';
import type { ArtifactRow } from './tables.ts';

/** An artifact as the API shows it. */
export function toWire(row: ArtifactRow): Value<typeof AgentArtifact> {
  const { id, sessionId, callId, kind, name, mediaType, size, createdAt } = row;
  return {
    ...{ id, sessionId, kind, name, mediaType },
    toolCallId: callId,
    sizeBytes: String(size),
    createdAt: rfc3339(createdAt),
  };
}
