import { jobs } from '../../../src/api/system/jobs.ts';
import { pageOf } from '../../../src/kit/page.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import type { App } from '../../app.ts';
import { implement, type Route } from '../../http/route.ts';

/** The operation on jobs: every job can be seen. */
export function jobRoutes(app: App): Route[] {
  return implement(jobs, {
    ListJobs: ({ caller, query }) => {
      const { limit, offset } = pageOf(query);
      return { jobs: app.jobs.list(caller.tenant, limit, offset).map(toWire) };
    },
  });
}

function toWire(job: ReturnType<App['jobs']['list']>[number]) {
  return {
    id: job.id,
    kind: job.kind,
    state: job.state,
    attempts: job.attempts,
    maxAttempts: job.maxAttempts,
    intervalMs: job.everyMs === null ? undefined : String(job.everyMs),
    lastError: job.lastError ?? '',
    runAt: rfc3339(job.runAt),
    createdAt: rfc3339(job.createdAt),
    updatedAt: rfc3339(job.updatedAt),
  };
}
