import { guardrails } from '../../../../src/api/gateway/guardrails.ts';
import { implement, type Route } from '../../../http/route.ts';
import { modelCall } from '../pipeline/call.ts';
import type { GuardrailChecks } from './checks.ts';
import type { GuardrailService } from './service.ts';
import { toWire } from './wire.ts';

/** The operations on guardrails. */
export function guardrailRoutes(service: GuardrailService, checks: GuardrailChecks): Route[] {
  return implement(guardrails, {
    GetGuardrails: ({ caller }) => toWire(service.of(caller.tenant)),
    SetGuardrails: ({ caller, body }) => toWire(service.replace(caller, body.config, body.version)),
    TestGuardrails: async (call) => {
      const { text, direction = 'input' } = call.body;
      const asked = modelCall('chat', call, { model: 'guardrails/test' });
      const examined = await checks.examine(asked, direction as 'input' | 'output', text);
      const passed = examined.verdict === 'pass';
      return { passed, text: passed ? examined.text : '', violations: [...examined.violations] };
    },
  });
}
