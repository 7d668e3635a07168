import { sandboxCommand } from '../../../../src/api/sandbox/command.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { implement, type Route } from '../../../http/route.ts';
import { requireUpgrade } from '../../../http/sockets.ts';
import { sse } from '../../../http/sse.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { wrongState } from '../lifecycle/states.ts';
import type { ExecutionRow } from '../tables.ts';
import type { CommandService } from './service.ts';
import { backgroundMessages, brokenMessage, commandMessages, PING_MS, ping } from './stream.ts';
import { openSocketSession } from './terminal/open.ts';
import type { Terminals } from './terminal/terminals.ts';
import { toTerminal } from './terminal/wire.ts';

/** Header of the next cursor of a log, as clients of execd-style sandboxes know it. */
const CURSOR_HEADER = 'EXECD-COMMANDS-TAIL-CURSOR';

/** The operations on commands and terminals. */
export function commandRoutes(
  app: App,
  driver: SandboxDriver,
  lifecycle: LifecycleService,
  commands: CommandService,
  terminals: Terminals,
): Route[] {
  return implement(sandboxCommand, {
    PingSandbox: async ({ caller, params }) => {
      const row = lifecycle.running(caller.tenant, params.sandboxId);
      const box = await driver.inspect(row.id);
      if (box.state !== 'running') throw wrongState(row.id, 'stopping', 'use');
      return { status: 'ok' as const };
    },
    ExecuteCommand: async ({ caller, params, body, signal, headers }) => {
      const request = {
        command: body.command,
        cwd: body.cwd,
        env: body.envs,
        uid: body.uid,
        gid: body.gid,
        timeoutMs: body.timeout,
      };
      if (body.background) {
        const row = await commands.startBackground(caller.tenant, params.sandboxId, request);
        return sse(fromList(backgroundMessages(row.id, app.clock)), { signal, headers });
      }
      const running = await commands.start(caller.tenant, params.sandboxId, request);
      signal.addEventListener('abort', () => void commands.end(running.row.id, 'SIGTERM'), { once: true });
      const heartbeat = () => ping(app.clock);
      const failure = (error: unknown) => {
        app.log.error('the output of a command broke', { command: running.row.id, error });
        return brokenMessage(app.clock);
      };
      return sse(commandMessages(running, app.clock), {
        signal,
        headers,
        heartbeatMs: PING_MS,
        heartbeat,
        failure,
      });
    },
    InterruptCommand: async ({ caller, params, query }) => {
      await commands.interrupt(caller.tenant, params.sandboxId, query.id);
      return { id: query.id, status: 'interrupted' as const };
    },
    GetCommandStatus: ({ caller, params }) =>
      toStatus(commands.get(caller.tenant, params.sandboxId, params.cmdId)),
    GetCommandLogs: async ({ caller, params, query }) => {
      const row = commands.get(caller.tenant, params.sandboxId, params.cmdId);
      const { body, next } = await commands.logs.read(
        row.sandboxId,
        row.id,
        Number(query.cursor ?? 0),
        row.logDropped,
      );
      return new Response(body, {
        headers: { 'content-type': 'text/plain; charset=utf-8', [CURSOR_HEADER]: String(next) },
      });
    },
    SandboxPty: ({ caller, params, query, request: upgrade }) => {
      lifecycle.running(caller.tenant, params.sandboxId);
      // What is wrong with attaching is said first: a client that was refused asks again without Upgrade.
      if (query.session === undefined) requireUpgrade(upgrade);
      const parts = { commands, terminals, log: app.log };
      return openSocketSession(parts, caller.tenant, params.sandboxId, query);
    },
    ListTerminals: ({ caller, params }) => ({
      terminals: terminals.list(caller.tenant, params.sandboxId).map(toTerminal),
    }),
    EndTerminal: async ({ caller, params }) => {
      await terminals.end(caller.tenant, params.sandboxId, params.terminalId);
      return { id: params.terminalId, status: 'ended' as const };
    },
  });
}

function toStatus(row: ExecutionRow) {
  return {
    id: row.id,
    content: row.command,
    running: row.state === 'running',
    error: row.error ?? '',
    started_at: rfc3339(row.createdAt),
    ...(row.exitCode === null ? {} : { exit_code: row.exitCode }),
    ...(row.finishedAt === null ? {} : { finished_at: rfc3339(row.finishedAt) }),
  };
}

async function* fromList<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}
