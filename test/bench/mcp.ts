import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { startMcpServer } from '../support/mcp-server.ts';
import { NO_SANDBOXES } from '../support/tenants/two-tenants.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 30) * 5;
const SERVERS = 20;

type Echo = () => Promise<unknown>;

/** Calls of a tool of another server through svc beside the official client at that server, lists, and calls of tools of svc. */
export async function benchMcp(report: Report): Promise<void> {
  const server = await startMcpServer();
  const daemon = await startDaemon({ env: { ...NO_SANDBOXES, SVC_LOG_LEVEL: 'info' } });
  try {
    report.table({
      title: 'a tool of another server',
      columns: ['p50 ms', 'p95 ms', 'direct ms', 'more ms'],
      lines: await outbound(daemon, server.port),
      notes: ['direct: the official client, connected to that server'],
    });
    report.table({
      title: 'svc as a server',
      columns: ['p50 ms', 'p95 ms', 'a ping ms', 'more ms'],
      lines: await inbound(daemon),
      notes: ['a ping: GET /healthz'],
    });
  } finally {
    await daemon.stop();
    await server.stop();
  }
}

async function outbound(daemon: TestDaemon, port: number): Promise<Line[]> {
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let i = 0; i < SERVERS; i++) await post(daemon, '/v1/mcp/servers', { name: `server${i}`, url });
  const client = await connect(url, {});
  const direct = await measure(() => client.callTool({ name: 'echo', arguments: { text: 'x' } }));
  const body = { toolName: 'mcp__server7__echo', arguments: { text: 'x' } };
  const through = await measure(() => post(daemon, '/v1/mcp/tools/call', body));
  const listed = await measure(async () => (await daemon.fetch('/v1/mcp/tools')).text());
  const list: Line = {
    what: `list of ${SERVERS * 7}`,
    cells: [digits(median(listed)), digits(quantile(listed, 0.95)), '', ''],
    goals: [atMost(median(listed), 10, 'ms')],
  };
  return [line('call', through, direct, 10), list];
}

async function inbound(daemon: TestDaemon): Promise<Line[]> {
  const client = await connect(`${daemon.url}/mcp`, { 'x-svc-api-key': daemon.apiKey });
  const floor = await measure(async () => (await daemon.fetch('/healthz')).text());
  const echo = await measure(() => client.callTool({ name: 'svc_echo', arguments: { text: 'x' } }));
  const list = await measure(() => client.listTools());
  return [line('call', echo, floor, 5), line('list', list, floor, 5)];
}

async function connect(url: string, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

async function post(daemon: TestDaemon, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await daemon.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok || text.includes('_STATUS_ERROR')) throw new Error(`${path}: ${text}`);
}

async function measure(work: Echo): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) await work();
  for (let i = 0; i < ROUNDS; i++) times.push(await timed(async () => void (await work())));
  return times;
}

function line(what: string, times: readonly number[], floor: readonly number[], goal: number): Line {
  const [p50, base] = [median([...times]), median([...floor])];
  const more = p50 - base;
  return {
    what,
    cells: [digits(p50), digits(quantile([...times], 0.95)), digits(base), digits(more)],
    goals: [atMost(more, goal, 'ms')],
  };
}

if (import.meta.main) await Report.of(benchMcp);
