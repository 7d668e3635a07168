import { sandboxLifecycle } from '../../../../src/api/sandbox/lifecycle.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import { implement, type Route } from '../../../http/route.ts';
import { type OverviewSources, overview } from '../metrics/overview.ts';
import type { Archiving } from './archiving.ts';
import type { Resizing } from './resizing.ts';
import { statesOf } from './states.ts';
import { toCreated, toInstance } from './wire.ts';

/** The operations on sandboxes as a whole. */
export function lifecycleRoutes(sources: OverviewSources, archiving: Archiving, resizing: Resizing): Route[] {
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
    ResizeSandbox: async ({ caller, params, body }) => {
      const { cpuLimit: cpu, memoryMb, diskMb } = body;
      const limits = { cpu, memoryMb: numberOf(memoryMb), diskMb: numberOf(diskMb) };
      return { instance: toInstance(await resizing.resize(caller.tenant, params.sandboxId, limits)) };
    },
    ArchiveSandbox: async ({ caller, params }) => ({
      instance: toInstance(await archiving.archive(caller.tenant, params.sandboxId)),
    }),
    RestoreSandbox: async ({ caller, params }) => ({
      instance: toInstance(await archiving.restore(caller.tenant, params.sandboxId)),
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

/** A 64-bit integer travels as text; 0 says nothing. */
function numberOf(text: string | undefined): number | undefined {
  return Number(text ?? 0) || undefined;
}
