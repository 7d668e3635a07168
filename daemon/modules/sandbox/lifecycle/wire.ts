import type { CreateSandboxResponse, SandboxInstance } from '../../../../src/api/sandbox/lifecycle.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { DAY_MS, rfc3339 } from '../../../../src/kit/time.ts';
import type { Sandbox } from '../tables.ts';
import { statusOf } from './states.ts';

/** A sandbox as GET answers it. */
export function toInstance(row: Sandbox): Value<typeof SandboxInstance> {
  return {
    ...toCreated(row),
    config: { ...row.config, labels: row.labels },
    expiresAt: rfc3339(row.expiresAt),
    createdAt: rfc3339(row.createdAt),
    destroyReason: row.reason ?? undefined,
    gitRepoUrl: row.config.git?.url ?? '',
    gitBranch: row.config.git?.branch ?? '',
    gitCommitSha: row.gitCommit ?? '',
    lifecycleState: row.state,
    revivableUntil: rfc3339(revivableUntil(row)),
    stoppedAt: rfc3339(row.stoppedAt),
    sshEnabled: row.config.sshEnabled,
  };
}

/** A sandbox as POST answers it. */
export function toCreated(row: Sandbox): Value<typeof CreateSandboxResponse> {
  return {
    id: row.id,
    sessionId: row.sessionId,
    tenantId: row.tenant,
    containerId: row.containerId,
    status: statusOf(row.state),
    backend: row.backend,
    image: row.config.image,
    createdAt: rfc3339(row.createdAt),
    expiresAt: rfc3339(row.expiresAt) ?? '',
    name: row.name,
  };
}

function revivableUntil(row: Sandbox): number | undefined {
  const days = row.config.autoDeleteAfterDays;
  return row.state === 'sleeping' && row.stoppedAt !== null && days > 0
    ? row.stoppedAt + days * DAY_MS
    : undefined;
}
