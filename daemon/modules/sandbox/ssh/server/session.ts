import type { PseudoTtyInfo, ServerChannel, Session } from 'ssh2';
import { asAppError } from '../../../../../src/errors/app-error.ts';
import type { CommandService } from '../../command/service.ts';
import type { BoxFiles } from '../../files/box-files.ts';
import type { Sandbox } from '../../tables.ts';
import type { Door } from '../door.ts';
import type { Places } from '../sftp/requests.ts';
import { serveSftp } from '../sftp/server.ts';
import { PeerChannel } from './channel.ts';
import { runOnPipes, runOnTerminal } from './command.ts';
import type { Peer } from './peer.ts';

/** What sessions need of their surroundings. */
export interface SessionParts {
  readonly door: Door;
  readonly commands: CommandService;
  /** The files of a sandbox, as its user sees them, and where relative paths start. */
  openFiles(box: Sandbox): Promise<{ readonly files: BoxFiles; readonly places: Places }>;
}

/** The exit code of a session that could not be had, as OpenSSH's own. */
const NOT_HAD = 255;

/** Variables that a client may send, as sshd lets through by default. */
const ALLOWED_ENV = /^(LANG|LC_[A-Z]{1,32}|COLORTERM)$/;
const MOST_ENV_VALUE = 256;
const MOST_ENV = 32;

type Window = Pick<PseudoTtyInfo, 'cols' | 'rows'>;

/** A session as its connection sees it. */
export interface ServedSession {
  /** Whether a shell, a command or a subsystem was asked for. */
  readonly isStarted: boolean;
}

/** Serves one session: at most one shell, command or subsystem, and what the peer says about it. */
export function serveSession(session: Session, peer: Peer, parts: SessionParts): ServedSession {
  const env: Record<string, string> = {};
  let size: { cols: number; rows: number } | undefined;
  let resize: (size: Window) => void = () => undefined;
  let signal: (name: string) => void = () => undefined;
  let isStarted = false;

  const start = (
    accept: () => ServerChannel | undefined,
    serve: (channel: PeerChannel, box: Sandbox) => Promise<void>,
  ) => {
    if (isStarted) return;
    const raw = accept();
    if (!raw) return;
    isStarted = true;
    const channel = new PeerChannel(raw, peer.socket, peer.gone, session);
    void parts.door
      .use(peer.entry)
      .then((box) => serve(channel, box))
      .catch((error: unknown) => refuse(channel, error, peer));
  };
  const run = (accept: () => ServerChannel | undefined, command: string) =>
    start(accept, async (channel, { tenant, id }) => {
      const request = { command, env };
      if (!size) {
        const running = await parts.commands.startPipe(tenant, id, request);
        signal = (name) => void running.process.kill(name as 'SIGINT').catch(() => undefined);
        return runOnPipes(parts.commands, running, channel);
      }
      const running = await parts.commands.startTerminal(tenant, id, request, size);
      resize = (window) => running.process.resize(sizeOf(window));
      signal = (name) => void running.process.kill(name as 'SIGINT').catch(() => undefined);
      return runOnTerminal(parts.commands, running, channel);
    });

  session.on('pty', (accept, _reject, info) => {
    size = sizeOf(info);
    env.TERM = /^[\w.+-]{1,64}$/.test(info.term) ? info.term : 'dumb';
    accept?.();
  });
  session.on('window-change', (accept, _reject, window) => {
    if (size) size = sizeOf(window);
    resize(window);
    accept?.();
  });
  session.on('env', (accept, reject, { key, val }) => {
    const isFull = Object.keys(env).length >= MOST_ENV && !(key in env);
    if (isFull || !ALLOWED_ENV.test(key) || val.length > MOST_ENV_VALUE || val.includes('\0'))
      return reject?.();
    env[key] = val;
    accept?.();
  });
  session.on('signal', (accept, _reject, { name }) => {
    if (SENDABLE.has(name)) signal(`SIG${name}`);
    accept?.();
  });
  session.on('shell', (accept) => run(accept, ''));
  session.on('exec', (accept, _reject, { command }) => run(accept, command));
  session.on('subsystem', (accept, reject, { name }) => {
    if (name !== 'sftp') return reject?.();
    start(accept, async (channel, box) => {
      const { files, places } = await parts.openFiles(box);
      await serveSftp(channel, files, places, peer.log);
    });
  });
  return {
    get isStarted() {
      return isStarted;
    },
  };
}

/** Signals that the drivers can send. */
const SENDABLE = new Set(['INT', 'TERM', 'KILL', 'HUP']);

/** Says on stderr what is in the way and how to get rid of it. */
export async function refuse(channel: PeerChannel, error: unknown, { log, entry }: Peer): Promise<void> {
  const known = asAppError(error);
  if (known.code === 'internal') log.error('an SSH session broke', { sandbox: entry.sandboxId, error });
  const lines = [known.message, ...(known.hint ? [known.hint] : [])];
  await channel.write('stderr', new TextEncoder().encode(lines.map((line) => `svc: ${line}\r\n`).join('')));
  await channel.exit({ code: NOT_HAD });
}

function sizeOf({ cols, rows }: Window): { cols: number; rows: number } {
  const sane = (value: number, other: number) => (value >= 1 && value <= 10_000 ? value : other);
  return { cols: sane(cols, 80), rows: sane(rows, 24) };
}
