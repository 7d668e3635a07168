import { endpoint, type Group } from '../endpoint.ts';
import { fields, int32, int64, model, oneOf, t, timestamp } from '../schema.ts';

/** Work that the instance does later, once or at intervals. */
export const Job = model('Job', {
  id: t.String(),
  kind: t.String({ description: 'What is done: sandbox.prune, auth.sweep and the like.' }),
  state: oneOf('waiting', 'running', 'done', 'failed'),
  attempts: int32(),
  maxAttempts: int32(),
  intervalMs: int64(),
  lastError: t.String(),
  runAt: timestamp(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

/** Looking at jobs. */
export const jobs = {
  ListJobs: endpoint({
    spec: 'extra',
    tag: 'System',
    id: 'ListJobs',
    method: 'GET',
    path: '/v1/jobs',
    summary: 'List the jobs of the instance and of the tenant, the latest first',
    query: fields({ limit: int32(), offset: int32() }),
    response: model('ListJobsResponse', { jobs: t.Array(Job) }),
    access: 'admin',
  }),
} satisfies Group;
