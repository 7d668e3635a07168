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

test('adds up the tokens of the gateway by direction', async () => {
  const metrics = createMetrics();
  metrics.tokens({ provider: 'local', model: 'echo', input: 3, output: 4 });
  metrics.tokens({ provider: 'local', model: 'echo', input: 5, output: 6 });
  const text = await metrics.render();
  const name = (direction: string) =>
    `svc_gateway_tokens_total{provider="local",model="echo",direction="${direction}"}`;
  expect(sample(text, name('input'))).toBe(8);
  expect(sample(text, name('output'))).toBe(10);
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
