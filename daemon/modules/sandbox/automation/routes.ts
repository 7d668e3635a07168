import { sandboxCrons } from '../../../../src/api/sandbox/crons.ts';
import { sandboxWebhooks } from '../../../../src/api/sandbox/webhooks.ts';
import { type Page, pageOf } from '../../../../src/kit/page.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { CronService } from './cron-service.ts';
import { DEFAULT_WAIT_MS, type Invocation } from './invocation.ts';
import type { RunStore } from './run-store.ts';
import type { WebhookService } from './webhook-service.ts';
import { toCron, toInvoked, toTrigger, toWebhook } from './wire.ts';

/** What the operations on crons and webhooks stand on. */
export interface AutomationParts {
  readonly crons: CronService;
  readonly webhooks: WebhookService;
  readonly invocation: Invocation;
  readonly runs: RunStore;
  /** The id of a sandbox that is named by id, name or session. */
  readonly sandboxId: (tenant: string, named: string) => string;
  /** The address of this instance, as the sender of a request knows it. */
  readonly baseUrl: (request: Request) => string;
}

/** The operations on crons, on webhooks and on the runs of both. */
export function automationRoutes(parts: AutomationParts): Route[] {
  const { crons, webhooks, invocation, runs, baseUrl } = parts;
  const filterOf = (tenant: string, query: { sandboxId?: string } & Partial<Page>) => ({
    sandboxId: query.sandboxId ? parts.sandboxId(tenant, query.sandboxId) : undefined,
    ...pageOf(query),
  });
  return [
    ...implement(sandboxCrons, {
      ListCrons: ({ caller, query }) => {
        const { rows, total } = crons.list(caller.tenant, filterOf(caller.tenant, query));
        return { crons: rows.map(toCron), total };
      },
      CreateCron: ({ caller, body }) => ({ cron: toCron(crons.create(caller.tenant, body)) }),
      UpdateCron: ({ caller, params, body }) => ({
        cron: toCron(crons.update(caller.tenant, Number(params.id), body)),
      }),
      DeleteCron: ({ caller, params }) => {
        crons.delete(caller.tenant, Number(params.id));
        return { success: true, message: 'The cron is gone.' };
      },
      ListTriggers: ({ caller, query }) => {
        const triggerId = query.triggerId === undefined ? undefined : Number(query.triggerId);
        const filter = { ...filterOf(caller.tenant, query), type: query.triggerType, triggerId };
        const { rows, total } = runs.list(caller.tenant, filter);
        return { triggers: rows.map(toTrigger), total };
      },
    }),
    ...implement(sandboxWebhooks, {
      ListWebhooks: ({ caller, query, request }) => {
        const { rows, total } = webhooks.list(caller.tenant, filterOf(caller.tenant, query));
        return { webhooks: rows.map((row) => toWebhook(row, baseUrl(request))), total };
      },
      CreateWebhook: ({ caller, body, request }) => {
        const { row, secret } = webhooks.create(caller.tenant, body);
        return { webhook: toWebhook(row, baseUrl(request)), secret };
      },
      UpdateWebhook: ({ caller, params, body, request }) => ({
        webhook: toWebhook(webhooks.update(caller.tenant, Number(params.id), body), baseUrl(request)),
      }),
      DeleteWebhook: ({ caller, params }) => {
        webhooks.delete(caller.tenant, Number(params.id));
        return { success: true, message: 'The webhook is gone; its address is unknown from now on.' };
      },
      InvokeSandboxWebhook: async ({ params, query, request }) => {
        const waitMs = query.wait === undefined ? DEFAULT_WAIT_MS : query.wait * SECOND_MS;
        return toInvoked(await invocation.take(params.path, request, waitMs));
      },
    }),
  ];
}
