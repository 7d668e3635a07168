import { sandboxCommand } from '../../src/api/sandbox/command.ts';
import { fail, invalid } from '../../src/errors/app-error.ts';
import type { Cli } from '../cli.ts';
import { withRawMode } from './raw-mode.ts';
import { CommandSession } from './session.ts';

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
/** A command line travels in the address of the request, which servers cut off at 16 KiB. */
const MAX_LINE = 12_000;

/** Runs a command on pipes: stdin, stdout and stderr stay apart. Returns its exit code. */
export async function runPiped(cli: Cli, remote: RemoteCommand): Promise<number> {
  const session = await open(cli, remote, { tty: false });
  const stop = onInterrupt(session);
  if (remote.input) void session.feed(Bun.stdin.stream()).catch(() => undefined);
  else void session.feed(new Blob([]).stream());
  return finish(cli, session, remote.timeoutMs, stop);
}

/** Runs a command on a terminal of its own, which this one mirrors. Returns its exit code. */
export async function runOnTerminal(cli: Cli, remote: RemoteCommand): Promise<number> {
  if (!process.stdin.isTTY) {
    throw invalid({ field: 'stdin', description: 'is not a terminal; run commands with: svc sandbox exec' });
  }
  const size = () => ({ cols: process.stdout.columns ?? 80, rows: process.stdout.rows ?? 24 });
  const session = await open(cli, remote, { tty: true, ...size() });
  const resize = () => session.resize(size().cols, size().rows);
  process.on('SIGWINCH', resize);
  return withRawMode(() => {
    void session.feed(Bun.stdin.stream()).catch(() => undefined);
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
  if (encodeURIComponent(JSON.stringify(query)).length > MAX_LINE) {
    throw invalid({
      field: 'command',
      description: 'is too long; send the script on stdin: svc sandbox exec NAME -- sh -s < script.sh',
    });
  }
  const client = await cli.client();
  const socket = await client.socket(sandboxCommand.SandboxPty, { params: { sandboxId: sandbox }, query });
  return new CommandSession(socket, { stdout: cli.terminal.out, stderr: cli.terminal.err }, client.url);
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
