import type { App } from '../../../app.ts';
import type { Route } from '../../../http/route.ts';
import type { OwnCalls } from '../own-calls.ts';
import { GuardrailChecks } from './checks.ts';
import type { Guardrail } from './guardrail.ts';
import { piiDetection, promptInjection } from './input-guards.ts';
import { moderatedGuards } from './moderated.ts';
import { codeExecution, jailbreakDetection } from './output-guards.ts';
import { guardrailRoutes } from './routes.ts';
import { GuardrailService, readInstance } from './service.ts';
import { GuardrailStore } from './store.ts';
import { tokenLimits } from './token-limits.ts';

export { type Examined, GuardrailChecks } from './checks.ts';
export type { Guardrail } from './guardrail.ts';

/** The room of guardrails. */
export interface GuardrailRoom {
  readonly stage: GuardrailChecks;
  readonly routes: readonly Route[];
  /** What a tenant's guardrails are at this time, as a short text; empty while they are off. */
  policyOf(tenant: string): string;
}

/** Makes the guardrails, in the order in which they look (behaviour: Guardrails). `more` stand behind the built-in ones. */
export function createGuardrails(
  app: Pick<App, 'config' | 'db' | 'clock' | 'audit'>,
  calls: Pick<OwnCalls, 'moderate'>,
  more: readonly Guardrail[] = [],
): GuardrailRoom {
  const service = new GuardrailService(app, new GuardrailStore(app.db), readInstance(app.config));
  const { contentFiltering, toxicity } = moderatedGuards(calls);
  const guardrails = [
    tokenLimits,
    promptInjection,
    piiDetection,
    contentFiltering,
    jailbreakDetection,
    toxicity,
    codeExecution,
    ...more,
  ];
  const stage = new GuardrailChecks(guardrails, (tenant) => service.of(tenant).settings);
  return {
    stage,
    routes: guardrailRoutes(service, stage),
    policyOf: (tenant) => service.of(tenant).policy,
  };
}
