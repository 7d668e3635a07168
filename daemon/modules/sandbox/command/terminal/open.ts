import type { PtyOptions, PtyStart } from '../../../../../src/api/sandbox/command.ts';
import type { Value } from '../../../../../src/api/schema.ts';
import type { SocketSession } from '../../../../http/route.ts';
import type { Log } from '../../../../log/log.ts';
import type { CommandRequest, CommandService } from '../service.ts';
import { DeferredSession } from './deferred.ts';
import { PipeSession } from './pipe.ts';
import type { Terminals } from './terminals.ts';

const DEFAULT_SIZE = { cols: 80, rows: 24 };

/** What opening takes. */
export interface SocketParts {
  readonly commands: CommandService;
  readonly terminals: Terminals;
  readonly log: Log;
}

type Options = Value<typeof PtyOptions>;
type Start = Pick<Value<typeof PtyStart>, 'cols' | 'rows' | 'tty'> & { readonly request: CommandRequest };

/** The session of a socket: a terminal, one that was there before, or a command on pipes. */
export async function openSocketSession(
  parts: SocketParts,
  tenant: string,
  sandbox: string,
  options: Options,
): Promise<SocketSession> {
  const { terminals } = parts;
  if (options.session !== undefined) {
    const part = { mode: options.mode ?? ('control' as const), since: Number(options.since ?? 0) };
    return terminals.attach(tenant, sandbox, options.session, part);
  }
  if (options.start === 'frame')
    return new DeferredSession(({ env, command = '', cwd, uid, ...rest }) =>
      begin(parts, tenant, sandbox, { ...rest, request: { command, cwd, uid, env } }),
    );
  const { command = '', cwd, uid, env, ...rest } = options;
  return begin(parts, tenant, sandbox, { ...rest, request: { command, cwd, uid, env: parseEnv(env) } });
}

async function begin(
  { commands, terminals, log }: SocketParts,
  tenant: string,
  sandbox: string,
  { request, tty, cols = DEFAULT_SIZE.cols, rows = DEFAULT_SIZE.rows }: Start,
): Promise<SocketSession> {
  if (tty !== false) return terminals.open(tenant, sandbox, request, { cols, rows });
  return new PipeSession(commands, await commands.startPipe(tenant, sandbox, request), log);
}

function parseEnv(entries: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}
