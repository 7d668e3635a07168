import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startDaemon, type TestDaemon } from '../support/daemon.ts';
import { cpuSeconds, type Target } from './gateway-load.ts';
import type { LightUpstream } from './gateway-upstream.ts';

/** A target and the process behind it. */
export interface Running extends Target {
  stop(): Promise<void>;
}

/** The peer and its release. */
const PEER = '@portkey-ai/gateway@1.15.2';
/** With the newest release of its HTTP server that npm would choose, the peer answers every stream with 500. */
const PEER_OVERRIDES = { '@hono/node-server': '1.13.8' };
const JSON_PATH = '/v1/chat/completions';
const READY_MS = 20_000;
/** A daemon is at rest when it uses less than this share of a processor, twice in a row. */
const AT_REST = 0.05;
const REST_MS = 500;
const MOST_REST_MS = 30_000;

/** The upstream itself: what is left when nothing stands before it. */
export function upstreamItself({ port, pid }: LightUpstream): Target {
  return { name: 'upstream itself', port, pid, path: JSON_PATH, headers: {} };
}

/** The runtime's own bound on requests at once, lifted as the program lifts it for itself. */
const CROWD_ENV = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' };

/** A passthrough with nothing in it. */
export async function startPassthrough({ url }: LightUpstream): Promise<Running> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'passthrough.ts'), url, 'a-key'], {
    env: { ...process.env, ...CROWD_ENV },
    stdout: 'pipe',
  });
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  if (!port) throw new Error('the passthrough does not start');
  return { ...named('bare passthrough', port, child.pid), headers: {}, stop: () => end(child) };
}

/** What a daemon does with every request. */
export interface Switches {
  /** The rate limit, a budget, and the request log. Authentication and daily sums are always on. */
  readonly isAllOn: boolean;
}

/** The program itself with that upstream, at rest. */
export async function startSvc({ url }: LightUpstream, { isAllOn }: Switches): Promise<Running> {
  const env = {
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: 'a-key',
    SVC_LOG_LEVEL: 'warn',
    SVC_GATEWAY_RATE_LIMIT_ENABLED: String(isAllOn),
    SVC_GATEWAY_RATE_LIMIT_REQUESTS_PER_MINUTE: '1000000',
    SVC_GATEWAY_RATE_LIMIT_BURST: '1000000',
    SVC_FEATURES_ENABLE_REQUEST_LOGGING: String(isAllOn),
  };
  const daemon = await startDaemon({ env });
  if (isAllOn) await setBudget(daemon);
  await rest(daemon.pid);
  const port = Number(new URL(daemon.url).port);
  return {
    ...named(isAllOn ? 'svc' : 'svc, all off', port, daemon.pid),
    path: `/compat${JSON_PATH}`,
    headers: { authorization: `Bearer ${daemon.apiKey}` },
    stop: () => daemon.stop(),
  };
}

/** The peer, installed now, run by Node; or why it cannot be measured. */
export async function startPeer({ url }: LightUpstream): Promise<Running | string> {
  if (!Bun.which('node') || !Bun.which('npm')) return `${PEER} is skipped: there is no node or npm`;
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-peer-'));
  try {
    await install(dir);
    const port = freePort();
    const program = join(dir, 'node_modules/@portkey-ai/gateway/build/start-server.js');
    const child = Bun.spawn(['node', program, `--port=${port}`, '--headless'], {
      cwd: dir,
      env: { ...process.env, NODE_ENV: 'production' },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    });
    const stop = async () => {
      await end(child);
      rmSync(dir, { recursive: true, force: true });
    };
    await listening(port).catch(async (error) => {
      await stop();
      throw error;
    });
    const headers = {
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': url,
      authorization: 'Bearer a-key',
    };
    return { ...named(`Portkey ${PEER.split('@').at(-1)}`, port, child.pid), headers, stop };
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    return `${PEER} is skipped: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function named(name: string, port: number, pid: number) {
  return { name, port, pid, path: JSON_PATH };
}

async function setBudget(daemon: TestDaemon): Promise<void> {
  const response = await daemon.fetch('/v1/budgets/tenant', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ monthUsd: 1_000_000 }),
  });
  if (!response.ok) throw new Error(`no budget: ${await response.text()}`);
}

/** A first start makes things in the background, which must not be measured. */
async function rest(pid: number): Promise<void> {
  let quiet = 0;
  for (const until = Date.now() + MOST_REST_MS; quiet < 2 && Date.now() < until; ) {
    const before = cpuSeconds(pid);
    await Bun.sleep(REST_MS);
    quiet = (cpuSeconds(pid) - before) / (REST_MS / 1000) < AT_REST ? quiet + 1 : 0;
  }
}

async function install(dir: string): Promise<void> {
  const manifest = { private: true, overrides: PEER_OVERRIDES };
  await Bun.write(join(dir, 'package.json'), JSON.stringify(manifest));
  const argv = ['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--save-exact', PEER];
  const child = Bun.spawn(argv, { cwd: dir, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0)
    throw new Error(`it cannot be installed: ${said.trim().split('\n').at(-1)}`);
}

async function listening(port: number): Promise<void> {
  for (const until = Date.now() + READY_MS; Date.now() < until; await Bun.sleep(50))
    if (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) return;
  throw new Error('it does not start');
}

async function end(child: Bun.Subprocess): Promise<void> {
  child.kill();
  await child.exited;
}
