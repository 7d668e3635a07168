import type { ServerWebSocket, Subprocess } from 'bun';
import { type AppError, fail } from '../../src/errors/app-error.ts';
import { CHANNEL } from '../pty/frame.ts';

/** A request that the fake daemon got. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Answers one operation, by `METHOD /path`. */
export type FakeAnswer = (request: SeenRequest) => unknown;

/** A daemon that answers as it is told and keeps what it was asked. Terminals run on this machine. */
export interface FakeDaemon {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Control frames that terminals were sent. */
  readonly controls: unknown[];
  on(operation: string, answer: FakeAnswer): void;
  stop(): void;
}

/** Every key but this one is refused. */
export const FAKE_KEY = 's_0123456789abcdefghijklmnopqrstuvwxyz';

type Child = Subprocess<'pipe', 'pipe', 'pipe'>;
interface Line {
  readonly argv: string[];
  readonly cwd?: string;
  readonly env: Record<string, string>;
  child?: Child;
}

/** Starts a fake daemon on a free port of this machine. */
export function startFakeDaemon(): FakeDaemon {
  const answers = new Map<string, FakeAnswer>();
  const seen: SeenRequest[] = [];
  const controls: unknown[] = [];
  const server = Bun.serve<Line, never>({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request, self) {
      const asked = await read(request);
      seen.push(asked);
      const isOpen = asked.path === '/auth/login';
      if (
        !isOpen &&
        asked.headers['x-svc-api-key'] !== FAKE_KEY &&
        asked.headers.authorization !== `Bearer ${FAKE_KEY}`
      )
        return refuse(fail('unauthenticated', { message: 'The API key is wrong or was revoked.' }));
      if (asked.path === '/v1/sandbox/box/pty') {
        self.upgrade(request, { data: lineOf(new URL(request.url).searchParams) });
        return undefined;
      }
      const answer = answers.get(`${asked.method} ${asked.path}`);
      if (!answer) return refuse(fail('sandbox_not_found', { id: asked.path.split('/')[3] ?? '' }));
      return respond(answer, asked);
    },
    websocket: {
      open: (socket) => void serveCommand(socket),
      message: (socket, data) => {
        if (typeof data === 'string') controls.push(JSON.parse(data));
        take(socket, data);
      },
      close: ({ data }) => killTree(data, 'SIGHUP'),
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    controls,
    on: (operation, answer) => void answers.set(operation, answer),
    stop: () => void server.stop(true),
  };
}

async function read(request: Request): Promise<SeenRequest> {
  const { pathname, searchParams } = new URL(request.url);
  const text = await request.text();
  return {
    method: request.method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(request.headers),
    body: text ? JSON.parse(text) : undefined,
  };
}

async function respond(answer: FakeAnswer, asked: SeenRequest): Promise<Response> {
  const value = await answer(asked);
  if (value instanceof Response) return value;
  return value instanceof Error ? refuse(value as AppError) : Response.json(value);
}

function refuse(error: AppError): Response {
  return Response.json(error.toWire('req_fake'), { status: error.http });
}

function lineOf(query: URLSearchParams): Line {
  const env = query.getAll('env').map((pair) => pair.split('=', 2) as [string, string]);
  return {
    argv: ['sh', '-c', query.get('command') ?? 'sh'],
    cwd: query.get('cwd') ?? undefined,
    env: Object.fromEntries(env),
  };
}

async function serveCommand(socket: ServerWebSocket<Line>): Promise<void> {
  const { argv, cwd, env } = socket.data;
  const child: Child = Bun.spawn(argv, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    detached: true,
  });
  socket.data.child = child;
  socket.send(JSON.stringify({ type: 'ready', id: 'cmd_fake' }));
  await Promise.all([pump(socket, CHANNEL.stdout, child.stdout), pump(socket, CHANNEL.stderr, child.stderr)]);
  await child.exited;
  const signal = child.signalCode ?? undefined;
  socket.send(
    JSON.stringify({ type: 'exit', code: signal === 'SIGINT' ? 130 : (child.exitCode ?? 143), signal }),
  );
  socket.close(1000, 'exited');
}

async function pump(
  socket: ServerWebSocket<Line>,
  channel: number,
  output: ReadableStream<Uint8Array>,
): Promise<void> {
  for await (const bytes of output) {
    socket.send(Buffer.concat([Buffer.of(channel), bytes]));
    while (socket.getBufferedAmount() > 1024 * 1024) await Bun.sleep(1);
  }
}

function take(socket: ServerWebSocket<Line>, data: string | Buffer): void {
  const { child } = socket.data;
  if (!child) return;
  if (typeof data !== 'string') {
    child.stdin.write(new Uint8Array(data.subarray(1)));
    void child.stdin.flush();
    return;
  }
  const control = JSON.parse(data) as { type: string; signal?: NodeJS.Signals };
  if (control.type === 'eof') void child.stdin.end();
  if (control.type === 'signal') killTree(socket.data, control.signal ?? 'SIGTERM');
}

/** Signals a command and all that it started: it leads a process group of its own. */
function killTree({ child }: Line, signal: NodeJS.Signals): void {
  if (child && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, signal);
}
