import { expect, test } from 'bun:test';
import { createMetrics } from './metrics.ts';

/** The value of one sample; the text has one sample a line (Prometheus exposition format). */
function sample(text: string, name: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

test('counts requests by operation and status, and their durations in seconds', async () => {
  const metrics = createMetrics();
  metrics.request('GetSandbox', 200, 20);
  metrics.request('GetSandbox', 200, 30);
  metrics.request('GetSandbox', 404, 1);
  const text = await metrics.render();
  expect(sample(text, 'svc_requests_total{operation="GetSandbox",status="200"}')).toBe(2);
  expect(sample(text, 'svc_requests_total{operation="GetSandbox",status="404"}')).toBe(1);
  expect(sample(text, 'svc_request_duration_seconds_count{operation="GetSandbox"}')).toBe(3);
  expect(sample(text, 'svc_request_duration_seconds_sum{operation="GetSandbox"}')).toBeCloseTo(0.051);
  expect(sample(text, 'svc_request_duration_seconds_bucket{le="0.025",operation="GetSandbox"}')).toBe(2);
});

test('adds up what modules count, by the values of its labels', async () => {
  const metrics = createMetrics();
  const tally = metrics.tally({ name: 'eaten_total', help: 'h', labelNames: ['who', 'what'] });
  tally.add(3, 'me', 'bread');
  tally.add(5, 'me', 'bread');
  tally.add(1, 'me', 'a "b"\\c');
  const text = await metrics.render();
  expect(sample(text, 'eaten_total{who="me",what="bread"}')).toBe(8);
  expect(sample(text, 'eaten_total{who="me",what="a \\"b\\"\\\\c"}')).toBe(1);
});

test('spreads what modules measure over buckets, bounds included', async () => {
  const metrics = createMetrics();
  const spread = metrics.spread({ name: 'size', help: 'h', labelNames: ['of'], buckets: [1, 2] });
  for (const value of [1, 1.5, 2, 3]) spread.observe(value, 'x');
  spread.observe(9, 'y');
  const text = await metrics.render();
  const lines = ['bucket{le="1",of="x"}', 'bucket{le="2",of="x"}', 'bucket{le="+Inf",of="x"}', 'sum{of="x"}'];
  expect(lines.map((line) => sample(text, `size_${line}`))).toEqual([1, 3, 4, 7.5]);
  expect(sample(text, 'size_count{of="y"}')).toBe(1);
  expect(text).toContain('# TYPE size histogram');
  expect(sample(await metrics.render(), 'size_count{of="x"}')).toBe(4);
});

test('keeps names that tenants have given from those who may not see them', async () => {
  const metrics = createMetrics();
  metrics.request('Status', 200, 1);
  metrics.tally({ name: 'eaten_total', help: 'h', labelNames: ['who'] }).add(1, 'somebody');
  metrics.spread({ name: 'size', help: 'h', labelNames: ['of'], buckets: [1] }).observe(1, 'somebody');
  expect(await metrics.render('nameless')).toContain('operation="Status"');
  expect(await metrics.render('nameless')).not.toContain('somebody');
  expect((await metrics.render()).split('somebody')).toHaveLength(6);
});

test('asks for the sandboxes at each scrape, and forgets states that are gone', async () => {
  const metrics = createMetrics();
  let states = new Map([['running', 2]]);
  metrics.sandboxes(() => states);
  expect(sample(await metrics.render(), 'svc_sandboxes{state="running"}')).toBe(2);
  states = new Map([['sleeping', 1]]);
  const text = await metrics.render();
  expect(sample(text, 'svc_sandboxes{state="sleeping"}')).toBe(1);
  expect(text).not.toContain('state="running"');
});

test('measures the process that it runs in', async () => {
  const metrics = createMetrics();
  const text = await metrics.render();
  expect(sample(text, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
  expect(sample(text, 'process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(Math.abs(sample(text, 'process_start_time_seconds') - Date.now() / 1000)).toBeLessThan(3600);
  if (process.platform === 'linux') expect(sample(text, 'process_open_fds')).toBeGreaterThan(2);
});

test('sees an event loop that was held up, and starts anew after each scrape', async () => {
  const metrics = createMetrics();
  const longest = async () => sample(await metrics.render(), 'svc_event_loop_lag_seconds{quantile="1"}');
  await Bun.sleep(150);
  Bun.sleepSync(400);
  await Bun.sleep(150);
  expect(await longest()).toBeGreaterThan(0.2);
  expect(await longest()).toBe(0);
});

test('two instances do not share figures', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.request('Status', 200, 1);
  expect(await other.render()).not.toContain('operation="Status"');
});
