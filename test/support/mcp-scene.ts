import { join } from 'node:path';
import { freePort, type TestDaemon } from './daemon.ts';

/** What the API answers about MCP. */
export interface Answer {
  readonly status: number;
  readonly body: {
    readonly server?: Record<string, unknown> & { readonly id?: string; readonly name?: string };
    readonly servers?: ReadonlyArray<{ readonly name: string }>;
    readonly tools?: ReadonlyArray<{
      readonly name: string;
      readonly description?: string;
      readonly inputSchema?: object;
    }>;
    readonly result?: Record<string, unknown>;
    readonly status?: string;
    readonly error?: string;
    readonly message?: string;
    readonly details?: ReadonlyArray<{
      readonly fieldViolations?: ReadonlyArray<{ readonly field: string }>;
    }>;
  };
}

/** Calls the API of a daemon, with its admin key unless another is given. */
export function askOf(daemon: () => TestDaemon, key?: string) {
  return async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const headers = {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'x-svc-api-key': key }),
    };
    const response = await daemon().fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
}

/** What tests do with the servers of a daemon. */
export function mcpOf(daemon: () => TestDaemon) {
  const ask = askOf(daemon);
  return {
    ask,
    register: (name: string, more: object) => ask('POST', '/v1/mcp/servers', { name, ...more }),
    call: (toolName: string, args: object = {}, serverId?: string) =>
      ask('POST', '/v1/mcp/tools/call', { toolName, serverId, arguments: args }),
  };
}

/** The address of a server on this machine. */
export function at(port: number, path = '/mcp'): string {
  return `http://127.0.0.1:${port}${path}`;
}

/** The names of the tools of an answer. */
export function toolsOf({ body }: Answer): string[] {
  return (body.tools ?? []).map(({ name }) => name);
}

/** What came of a call. */
export function resultOf({ body }: Answer): Answer['body']['result'] {
  return body.result;
}

/** The first field that an answer complains of. */
export function fieldOf({ body }: Answer): string | undefined {
  return body.details?.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field;
}

/** Waits until something holds; throws after ten seconds. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('it did not come to that');
    await Bun.sleep(50);
  }
}

/** The published server-everything, by its ports. */
export interface Everything {
  readonly http: number;
  readonly sse: number;
  /** Starts it anew at the same place: it has forgotten all sessions. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const PROGRAM = join(
  import.meta.dir,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

/** Starts the published server-everything, by Streamable HTTP and by SSE. */
export async function startEverything({ sse: withSse = true } = {}): Promise<Everything> {
  const [http, sse] = [freePort(), freePort()];
  const start = () =>
    Promise.all([run('streamableHttp', http, '/mcp'), ...(withSse ? [run('sse', sse, '/sse')] : [])]);
  let running = await start();
  const stop = async () => {
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(running.map(({ exited }) => exited));
  };
  return {
    ...{ http, sse, stop },
    async restart() {
      await stop();
      running = await start();
    },
  };
}

async function run(kind: string, port: number, path: string): Promise<Bun.Subprocess> {
  const child = Bun.spawn(['node', PROGRAM, kind], {
    env: { ...process.env, PORT: String(port) },
    stdout: 'ignore',
    stderr: 'ignore',
  });
  await until(async () => {
    const leaving = AbortSignal.timeout(1_000);
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: leaving }).catch(
      () => undefined,
    );
    await response?.body?.cancel();
    return response !== undefined;
  });
  return child;
}
