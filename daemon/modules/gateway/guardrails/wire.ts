import type { Guardrails } from '../../../../src/api/gateway/guardrails.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { GivenGuardrails } from './config.ts';
import type { GuardrailsInForce } from './service.ts';

/** The guardrails of a tenant as JSON. */
export function toWire({ settings, given, version, updatedAt }: GuardrailsInForce): Value<typeof Guardrails> {
  return { config: settings as GivenGuardrails, given, version, updatedAt: rfc3339(updatedAt) };
}
