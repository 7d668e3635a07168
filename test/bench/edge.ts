import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { driverCases } from '../support/drivers.ts';
import { clientOf, newSandbox } from '../support/scene.ts';
import { type BareServer, startBareServer } from './kit/bare-server.ts';
import { applyLoad, type LoadFigures, middle, type Target } from './kit/load.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

/** The same work done by svc and by a listener with nothing in it. */
interface Pair {
  readonly svc: Target;
  readonly bare: Target;
}

const CALLERS = [1, 16];
/** Milliseconds of load that let the runtime compile what is hot. */
const WARM_UP_MS = 1_000;
/** Processor time that the way through the edge may add to a request. */
const EDGE_US = 12;
const CHAT = { model: 'local/echo', messages: [{ role: 'user', content: 'word '.repeat(30).trim() }] };

/**
 * What the HTTP edge costs: requests a second, latency and processor time of small operations, beside a bare
 * listener that gives the same answers, by turns, on one machine.
 */
export async function benchEdge(report: Report): Promise<void> {
  const [driver] = driverCases;
  const daemon = await startDaemon({ env: { SVC_LOG_LEVEL: 'info', SVC_SANDBOX_WARM: '0', ...driver?.env } });
  try {
    const requests = await requestsOf(daemon, driver !== undefined);
    const bare = await startBareServer(
      Object.fromEntries(requests.map(({ path, answer }) => [path, answer])),
    );
    try {
      for (const callers of CALLERS) report.table(await measure(requests, daemon, bare, callers));
    } finally {
      bare.end();
    }
  } finally {
    await endSandboxes(daemon);
    await daemon.stop();
  }
}

interface Wanted extends Pick<Target, 'name' | 'method' | 'path' | 'headers' | 'body'> {
  /** What svc answers, for the bare listener to answer too. */
  readonly answer: unknown;
}

async function requestsOf(daemon: TestDaemon, hasDriver: boolean): Promise<Wanted[]> {
  const key = { 'x-svc-api-key': daemon.apiKey };
  const plain: Array<Omit<Wanted, 'answer'>> = [{ name: 'healthz', method: 'GET', path: '/healthz' }];
  if (hasDriver) {
    const id = await newSandbox(clientOf(daemon));
    plain.push({ name: 'one sandbox', method: 'GET', path: `/v1/sandbox/instances/${id}`, headers: key });
  } else {
    plain.push({ name: 'jobs', method: 'GET', path: '/v1/jobs', headers: key });
  }
  plain.push({
    name: 'local/echo chat',
    method: 'POST',
    path: '/compat/v1/chat/completions',
    headers: { authorization: `Bearer ${daemon.apiKey}` },
    body: JSON.stringify(CHAT),
  });
  return Promise.all(plain.map(async (one) => ({ ...one, answer: await answerOf(daemon, one) })));
}

async function answerOf(daemon: TestDaemon, { method, path, headers, body }: Omit<Wanted, 'answer'>) {
  const all = { 'content-type': 'application/json', ...headers };
  const response = await fetch(daemon.url + path, { method, body, headers: all });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response.json();
}

async function measure(requests: readonly Wanted[], daemon: TestDaemon, bare: BareServer, callers: number) {
  const at = ({ pid, port }: Pick<Target, 'pid' | 'port'>, { answer: _, ...request }: Wanted): Target => ({
    ...request,
    pid,
    port,
  });
  const own = { pid: daemon.pid, port: Number(new URL(daemon.url).port) };
  const lines: Line[] = [];
  for (const request of requests) {
    const pair = { svc: at(own, request), bare: at(bare, request) };
    const { svc, bare: floor } = await compare(pair, callers);
    const addedUs = svc.cpuUs - floor.cpuUs;
    const isEdgeAlone = request.path === '/healthz' && callers > 1;
    lines.push(
      { what: `${request.name}, bare listener (floor)`, cells: cellsOf(floor) },
      {
        what: `${request.name}, svc`,
        cells: [...cellsOf(svc), digits(svc.perSecond / floor.perSecond), digits(addedUs)],
        goals: isEdgeAlone ? [atMost(addedUs, EDGE_US, 'µs added')] : [],
      },
    );
  }
  const title = `edge, ${callers} caller${callers > 1 ? 's' : ''}`;
  const columns = ['req/s', 'p50 ms', 'p95 ms', 'cpu µs', 'x floor', 'added µs'];
  return { title, columns, lines };
}

async function compare({ svc, bare }: Pair, callers: number) {
  const rounds = sizeFromEnv('BENCH_EDGE_ROUNDS', 5);
  const ms = sizeFromEnv('BENCH_EDGE_MS', 250);
  for (const target of [svc, bare]) await applyLoad(target, callers, WARM_UP_MS);
  const figures = { svc: [] as LoadFigures[], bare: [] as LoadFigures[] };
  for (let round = 0; round < rounds; round++) {
    figures.bare.push(await applyLoad(bare, callers, ms));
    figures.svc.push(await applyLoad(svc, callers, ms));
  }
  return { svc: middle(figures.svc), bare: middle(figures.bare) };
}

function cellsOf({ perSecond, p50Ms, p95Ms, cpuUs }: LoadFigures): string[] {
  return [perSecond.toFixed(0), digits(p50Ms), digits(p95Ms), digits(cpuUs)];
}

async function endSandboxes(daemon: TestDaemon): Promise<void> {
  const client = clientOf(daemon);
  const { instances = [] } = await client.call(sandboxLifecycle.ListSandboxInstances, { query: {} });
  for (const { id = '' } of instances)
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
}

if (import.meta.main) await Report.of(benchEdge);
