import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, int64, model, object, t, timestamp } from '../schema.ts';

/** What a sandbox uses at one point in time. */
export const SandboxStats = model('SandboxStats', {
  cpuPercent: t.Number({ description: 'Of one core, since the measurement before: 200 is two full cores.' }),
  memoryUsage: int64(),
  memoryLimit: int64(),
  memoryPercent: t.Number(),
  networkRxBytes: int64(),
  networkTxBytes: int64(),
  blockRead: int64(),
  blockWrite: int64(),
  pids: int32(),
  timestamp: timestamp(),
});

const here = { spec: 'agents', tag: 'Sandbox metrics' } as const;

/** What sandboxes use. */
export const sandboxMetrics = {
  GetSandboxStats: endpoint({
    ...here,
    id: 'GetSandboxStats',
    method: 'GET',
    path: '/v1/sandbox/{sessionId}/stats',
    summary: 'Measure what a sandbox uses now',
    params: ids('sessionId'),
    query: fields({ tenantId: t.String() }),
    response: model('GetSandboxStatsResponse', { stats: SandboxStats }),
    access: 'viewer',
  }),
  GetMetrics: endpoint({
    ...here,
    spec: 'guide',
    id: 'GetMetrics',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/metrics',
    summary: 'Measure what a sandbox uses now',
    params: ids('sandboxId'),
    response: model('GetMetricsResponse', { stats: SandboxStats }),
    access: 'viewer',
  }),
  WatchMetrics: endpoint({
    ...here,
    spec: 'guide',
    id: 'WatchMetrics',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/metrics/watch',
    summary: 'Stream what a sandbox uses, every 2 seconds, until it stops',
    params: ids('sandboxId'),
    response: SandboxStats,
    stream: 'sse',
    access: 'viewer',
  }),
  GetMetricsHistory: endpoint({
    ...here,
    spec: 'guide',
    id: 'GetMetricsHistory',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/metrics/history',
    summary: 'Get the last 2 hours at 30 seconds',
    params: ids('sandboxId'),
    query: fields({
      from: t.String({ format: 'date-time', description: 'The first point; 2 hours ago when absent.' }),
      to: t.String({ format: 'date-time', description: 'The last point; now when absent.' }),
    }),
    response: object('GetMetricsHistoryResponse', {
      resolutionSeconds: int32(),
      points: t.Array(SandboxStats),
    }),
    access: 'viewer',
  }),
  GetMetricsBatch: endpoint({
    ...here,
    spec: 'guide',
    id: 'GetMetricsBatch',
    method: 'GET',
    path: '/v1/sandbox/metrics/batch',
    summary: 'Measure several sandboxes at once',
    query: t.Object({
      ids: t.String({
        minLength: 1,
        description:
          'Up to 100 ids or names, separated by commas. Those that do not run are left out of the answer.',
      }),
    }),
    response: object('GetMetricsBatchResponse', { stats: t.Record(t.String(), SandboxStats) }),
    access: 'viewer',
  }),
} satisfies Group;
