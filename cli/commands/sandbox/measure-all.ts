import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { sandboxMetrics } from '../../../src/api/sandbox/metrics.ts';
import type { Client } from '../../../src/client/client.ts';
import type { Stats } from './stats-view.ts';

/** A running sandbox with what it uses. */
export interface Measured {
  readonly id: string;
  readonly name: string;
  readonly stats: Stats;
}

const PAGE = 500;
/** Sandboxes that one call measures at most. */
const BATCH = 100;

/** Measures all running sandboxes of the tenant, in the order of the list. */
export async function measureAll(client: Client): Promise<Measured[]> {
  const running: Array<{ readonly id: string; readonly name: string }> = [];
  for (let total = 1; running.length < total; ) {
    const query = { status: 'SANDBOX_STATUS_RUNNING' as const, limit: PAGE, offset: running.length };
    const answer = await client.call(sandboxLifecycle.ListSandboxInstances, { query });
    const page = answer.instances ?? [];
    running.push(...page.map(({ id = '', name = '' }) => ({ id, name })));
    total = page.length > 0 ? (answer.total ?? 0) : 0;
  }
  const parts = Array.from({ length: Math.ceil(running.length / BATCH) }, (_, i) =>
    running.slice(i * BATCH, (i + 1) * BATCH),
  );
  const answers = await Promise.all(
    parts.map((part) =>
      client.call(sandboxMetrics.GetMetricsBatch, { query: { ids: part.map(({ id }) => id).join(',') } }),
    ),
  );
  const stats = new Map(answers.flatMap((answer) => Object.entries(answer.stats)));
  return running.flatMap((row) => {
    const measured = stats.get(row.id);
    return measured ? [{ ...row, stats: measured }] : [];
  });
}
