import type { Input } from '../../src/api/endpoint.ts';
import { sandboxCommand } from '../../src/api/sandbox/command.ts';
import { AppError, fail, invalid } from '../../src/errors/app-error.ts';
import type { Cli } from '../cli.ts';
import { withRawMode } from './raw-mode.ts';
import { CommandSession, type Place } from './session.ts';

/** A command to run in a sandbox, seen from here. */
export interface RemoteCommand {
  readonly sandbox: string;
  /** For the shell of the sandbox; its login shell when absent. */
  readonly command?: string;
  readonly cwd?: string;
  readonly uid?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds until it is ended. */
  readonly timeoutMs?: number;
  /** Reads this process's stdin. */
  readonly input: boolean;
}

/** Exit code of a command that its time limit ended, as timeout(1) has it. */
const TIMED_OUT = 124;
const KILL_AFTER_MS = 5_000;
/** A command line that fits travels in the address of the request, which servers cut off at 16 KiB. */
const MAX_ADDRESS = 12_000;
/** How long a terminal is looked for whose connection dropped: as long as the daemon keeps it by default. */
const RECONNECT_MS = 10 * 60_000;
const FIRST_PAUSE_MS = 100;
const MOST_PAUSE_MS = 3_000;

/** Runs a command on pipes: stdin, stdout and stderr stay apart. Returns its exit code. */
export async function runPiped(cli: Cli, remote: RemoteCommand): Promise<number> {
  const session = await open(cli, remote, { tty: false });
  const stop = onInterrupt(session);
  if (remote.input) void session.feed(Bun.stdin.stream()).catch(() => undefined);
  else void session.feed(new Blob([]).stream());
  return finish(cli, session, remote.timeoutMs, stop);
}

/** Runs a command on a terminal of its own, which this one mirrors. Returns its exit code. */
export function runOnTerminal(cli: Cli, remote: RemoteCommand): Promise<number> {
  return mirror(cli, remote, (size) => open(cli, remote, { tty: true, ...size }));
}

/** A terminal that is there, mirrored here. With `view` nothing that is typed goes to it. */
export function attachTerminal(
  cli: Cli,
  sandbox: string,
  session: string,
  { view = false }: { view?: boolean } = {},
): Promise<number> {
  const remote: RemoteCommand = { sandbox, input: !view };
  const mode = view ? 'view' : 'control';
  // Programs that paint the whole screen paint it anew when the size changes.
  const redraw = (there: CommandSession, { cols, rows }: Size) => {
    there.resize(cols, Math.max(rows - 1, 1));
    there.resize(cols, rows);
  };
  return mirror(cli, remote, () => openSession(cli, sandbox, { session, mode }, true), redraw);
}

type Size = { readonly cols: number; readonly rows: number };

async function mirror(
  cli: Cli,
  remote: RemoteCommand,
  connect: (size: Size) => Promise<CommandSession>,
  prepare: (session: CommandSession, size: Size) => void = () => undefined,
): Promise<number> {
  if (!process.stdin.isTTY) {
    throw invalid({ field: 'stdin', description: 'is not a terminal; run commands with: svc sandbox exec' });
  }
  const size = () => ({ cols: process.stdout.columns ?? 80, rows: process.stdout.rows ?? 24 });
  const session = await connect(size());
  const resize = () => session.resize(size().cols, size().rows);
  process.on('SIGWINCH', resize);
  session.onReconnected = resize;
  prepare(session, size());
  return withRawMode(() => {
    if (remote.input) void session.feedKeys(Bun.stdin.stream()).catch(() => undefined);
    else void leaveOnCtrlC(session);
    return finish(cli, session, remote.timeoutMs, () => process.off('SIGWINCH', resize));
  });
}

async function open(
  cli: Cli,
  { sandbox, command, cwd, uid, env = {} }: RemoteCommand,
  terminal: { tty: boolean; cols?: number; rows?: number },
): Promise<CommandSession> {
  const query = {
    ...terminal,
    command,
    cwd,
    uid,
    env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
  };
  if (encodeURIComponent(JSON.stringify(query)).length <= MAX_ADDRESS)
    return openSession(cli, sandbox, query, terminal.tty);
  return openSession(cli, sandbox, { start: 'frame' }, terminal.tty, (socket) =>
    socket.send(JSON.stringify({ type: 'start', ...terminal, command, cwd, uid, env })),
  );
}

/** Opens the socket of a command; one of a terminal is opened again when it drops. */
async function openSession(
  cli: Cli,
  sandbox: string,
  query: Input<typeof sandboxCommand.SandboxPty>['query'],
  isTerminal: boolean,
  begin: (socket: WebSocket) => void = () => undefined,
): Promise<CommandSession> {
  const client = await cli.client();
  const params = { sandboxId: sandbox };
  const socket = await client.socket(sandboxCommand.SandboxPty, { params, query });
  begin(socket);
  const mode = query.mode ?? 'control';
  const again = ({ session, since }: Place) =>
    client.socket(sandboxCommand.SandboxPty, { params, query: { session, since: String(since), mode } });
  return new CommandSession(socket, {
    streams: { stdout: cli.terminal.out, stderr: cli.terminal.err },
    url: client.url,
    reconnect: isTerminal ? (place) => reconnect(cli, () => again(place)) : undefined,
  });
}

/** Tries again until the daemon answers. Errors: what it answers; unreachable when it never does. */
async function reconnect(cli: Cli, connect: () => Promise<WebSocket>): Promise<WebSocket> {
  cli.terminal.err.write('\r\n[svc: the connection dropped; connecting again, Ctrl-C leaves]\r\n');
  const end = Date.now() + RECONNECT_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MOST_PAUSE_MS)) {
    try {
      return await connect();
    } catch (error) {
      const isAway = error instanceof AppError && error.code === 'unreachable';
      if (!isAway || Date.now() > end) throw error;
      await Bun.sleep(pause);
    }
  }
}

async function finish(
  cli: Cli,
  session: CommandSession,
  timeoutMs: number | undefined,
  cleanUp: () => void,
): Promise<number> {
  const limit = timeoutMs ? timeLimit(session, timeoutMs) : undefined;
  try {
    const { code, message } = await session.exited;
    if (limit?.reached()) {
      cli.terminal.note(`The command did not end within ${timeoutMs} ms and was ended.`);
      return TIMED_OUT;
    }
    if (message) cli.terminal.note(message);
    return code;
  } finally {
    limit?.cancel();
    cleanUp();
  }
}

function timeLimit(session: CommandSession, timeoutMs: number) {
  let reached = false;
  let timer = setTimeout(() => {
    reached = true;
    session.signal('SIGTERM');
    timer = setTimeout(() => session.signal('SIGKILL'), KILL_AFTER_MS);
  }, timeoutMs);
  return { reached: () => reached, cancel: () => clearTimeout(timer) };
}

/** One who only watches leaves by Ctrl-C; what else is typed is dropped. */
async function leaveOnCtrlC(session: CommandSession): Promise<void> {
  for await (const keys of Bun.stdin.stream()) if (keys.includes(3)) session.leave(fail('cancelled'));
}

/** The first Ctrl-C goes to the command, the second one leaves. */
function onInterrupt(session: CommandSession): () => void {
  let interrupted = false;
  const interrupt = () => {
    if (interrupted) session.leave(fail('cancelled'));
    interrupted = true;
    session.signal('SIGINT');
  };
  const terminate = () => session.signal('SIGTERM');
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', terminate);
  return () => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', terminate);
  };
}
