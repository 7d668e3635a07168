import type { FunctionDefinition, FunctionInvocation } from '../../../src/api/functions/functions.ts';
import type { Value } from '../../../src/api/schema.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import { type FunctionConfig, showConfig, WIRE_MODES } from './config/config.ts';
import type { FunctionRow, InvocationRow } from './tables.ts';

/** A function with its configuration, opened. */
export interface KnownFunction {
  readonly row: FunctionRow;
  readonly config: FunctionConfig;
}

/** A function as the API shows it: secrets as masks. */
export function toWire({ row, config }: KnownFunction): Value<typeof FunctionDefinition> {
  const { id, tenant: tenantId, name, description, timeoutMs, memoryMb, maxRetries, enabled } = row;
  return {
    ...{ id, tenantId, name, description, timeoutMs, memoryMb, maxRetries, enabled },
    mode: WIRE_MODES[row.mode],
    parameters: JSON.parse(row.parameters) as Record<string, unknown>,
    ...showConfig(config),
    createdAt: rfc3339(row.createdAt),
    updatedAt: rfc3339(row.updatedAt),
  };
}

/** A call as the API shows it. */
export function invocationToWire(row: InvocationRow): Value<typeof FunctionInvocation> {
  const { id, status, attempts, error, durationMs, startedAt } = row;
  return {
    ...{ id, status, attempts },
    startedAt: rfc3339(startedAt),
    ...(durationMs === null ? {} : { durationMs: String(durationMs) }),
    ...(error === null ? {} : { error }),
  };
}
