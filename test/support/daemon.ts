import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '../../daemon/db/settings.ts';

/** A daemon of a test: its own process, data directory and port. */
export interface TestDaemon {
  readonly url: string;
  readonly apiKey: string;
  readonly dataDir: string;
  readonly pid: number;
  /** What it has logged. */
  log(): string;
  /** Stops it as `svc down` does; its data directory stays when `keep` is set. */
  stop(options?: { keep?: boolean }): Promise<void>;
  /** Ends it without warning; its data directory stays. */
  kill9(): Promise<void>;
  /** Calls it with its admin key. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** What a test daemon is started with. */
export interface DaemonOptions {
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly apiKey?: string;
  /** A free one when absent. */
  readonly port?: number;
}

/** How the program is started: the compiled binary that SVC_TEST_BINARY names, else from source. */
export function svcCommand(): string[] {
  const binary = process.env.SVC_TEST_BINARY;
  return binary ? [binary] : [process.execPath, join(import.meta.dir, '../../cli/main.ts')];
}

/** Starts a daemon and waits until it is ready. */
export async function startDaemon(options: DaemonOptions = {}): Promise<TestDaemon> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'svc-test-'));
  const apiKey =
    options.apiKey ?? `s_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')}`;
  const port = options.port ?? freePort();
  const child = Bun.spawn(
    [...svcCommand(), 'serve', '--port', String(port), '--data-dir', dataDir, ...(options.args ?? [])],
    {
      env: {
        ...process.env,
        SVC_ROOT_API_KEY: apiKey,
        SVC_LOG_LEVEL: 'debug',
        SVC_SSH_PORT: '0',
        ...options.env,
      },
      stdout: 'ignore',
      stderr: 'pipe',
    },
  );
  let log = '';
  const reading = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) log += text;
  })();
  const url = `http://127.0.0.1:${port}`;
  await ready(url, child, () => log);
  return {
    url,
    apiKey,
    dataDir,
    pid: child.pid,
    log: () => log,
    fetch: (path, init) =>
      fetch(url + path, { ...init, headers: { 'x-svc-api-key': apiKey, ...init?.headers } }),
    async stop({ keep = false } = {}) {
      child.kill('SIGTERM');
      await child.exited;
      await reading;
      if (keep) return;
      await removeNetwork(dataDir, options.env?.SVC_DOCKER_SOCKET);
      rmSync(dataDir, { recursive: true, force: true });
    },
    async kill9() {
      child.kill('SIGKILL');
      await child.exited;
      await reading;
    },
  };
}

/** A port that is free now. */
export function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

/** An instance keeps its network on the engine, which has room for about thirty. One with sandboxes in it stays. */
async function removeNetwork(dataDir: string, socket: string | undefined): Promise<void> {
  if (!socket || !existsSync(socket)) return;
  const name = readSettings(join(dataDir, 'svc.db'))['instance.name'];
  await fetch(`http://engine/networks/svc-${name}`, { method: 'DELETE', unix: socket }).catch(
    () => undefined,
  );
}

async function ready(url: string, child: Bun.Subprocess, log: () => string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (child.exitCode !== null) throw new Error(`The daemon ended with ${child.exitCode}:\n${log()}`);
    const response = await fetch(`${url}/healthz`).catch(() => undefined);
    if (response?.ok) return;
    await Bun.sleep(25);
  }
  throw new Error(`The daemon is not ready:\n${log()}`);
}
