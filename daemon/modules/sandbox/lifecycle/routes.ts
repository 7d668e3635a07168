import { sandboxLifecycle } from '../../../../src/api/sandbox/lifecycle.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import { implement, type Route } from '../../../http/route.ts';
import { type OverviewSources, overview } from '../metrics/overview.ts';
import { statesOf } from './states.ts';
import { toCreated, toInstance } from './wire.ts';

/** The operations on sandboxes as a whole. */
export function lifecycleRoutes(sources: OverviewSources): Route[] {
  const { lifecycle } = sources;
  return implement(sandboxLifecycle, {
    CreateSandbox: async ({ caller, body, idempotencyKey }) =>
      toCreated(await lifecycle.create(caller, body, idempotencyKey)),
    ListSandboxInstances: ({ caller, query }) => {
      const filter = {
        states: statesOf(query.status),
        labels: parseLabels(query.label_filter),
        ...pageOf(query),
      };
      const { rows, total } = lifecycle.list(caller.tenant, filter);
      return { instances: rows.map(toInstance), total };
    },
    GetSandboxInstance: ({ caller, params }) => ({
      instance: toInstance(lifecycle.get(caller.tenant, params.sandboxId)),
    }),
    GetSandboxOverview: async ({ caller }) => ({ overview: await overview(caller.tenant, sources) }),
    StopSandbox: async ({ caller, params }) => {
      const row = await lifecycle.stop(caller.tenant, params.sandboxId);
      return { success: true, message: `The sandbox is ${row.state}.` };
    },
    ReviveSandbox: async ({ caller, params }) => ({
      instance: toInstance(await lifecycle.revive(caller.tenant, params.sandboxId)),
    }),
    TerminateSandbox: async ({ caller, params }) => {
      await lifecycle.terminate(caller.tenant, params.sandboxId);
      return { success: true, message: 'The sandbox is gone for good.' };
    },
    DestroySandbox: async ({ caller, params }) => {
      await lifecycle.terminate(caller.tenant, params.sessionId);
      return { success: true, message: 'The sandbox is gone for good.' };
    },
    RecreateSandbox: async ({ caller, body }) => {
      const id = body.sandboxId || body.sessionId;
      if (!id) throw invalid({ field: 'sandboxId', description: 'is required' });
      return toCreated(await lifecycle.recreate(caller, id, body.sandboxId ? body.sessionId : undefined));
    },
    RenewExpiration: async ({ caller, params, body }) => {
      await lifecycle.renew(caller.tenant, params.sandboxId, body.extra_seconds);
      return { status: 'renewed' as const, extra_seconds: body.extra_seconds };
    },
  });
}

/** Reads `team=web,stage=dev`. Errors: invalid_argument. */
export function parseLabels(text: string | undefined): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const part of (text ?? '').split(',').filter((part) => part !== '')) {
    const at = part.indexOf('=');
    if (at < 1)
      throw invalid({ field: 'label_filter', description: 'must have the form name=value,name=value' });
    labels[part.slice(0, at)] = part.slice(at + 1);
  }
  return labels;
}
