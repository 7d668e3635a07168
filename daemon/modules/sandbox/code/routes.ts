import { sandboxCode } from '../../../../src/api/sandbox/code.ts';
import type { App } from '../../../app.ts';
import { implement, type Route } from '../../../http/route.ts';
import { sse } from '../../../http/sse.ts';
import { brokenMessage, PING_MS, ping } from '../command/stream.ts';
import type { CodeService } from './service.ts';
import { codeMessages } from './stream.ts';
import { toContext } from './wire.ts';

/** The operations on code. */
export function codeRoutes(app: App, code: CodeService): Route[] {
  return implement(sandboxCode, {
    CreateCodeContext: async ({ caller, params, body }) =>
      toContext(await code.open(caller.tenant, params.sandboxId, body.language)),
    ListCodeContexts: ({ caller, params, query }) =>
      code.list(caller.tenant, params.sandboxId, query.language).map(toContext),
    GetCodeContext: ({ caller, params }) =>
      toContext(code.get(caller.tenant, params.sandboxId, params.contextId).row),
    DeleteCodeContext: async ({ caller, params }) => {
      await code.close(caller.tenant, params.sandboxId, params.contextId);
      return { deleted: 1 };
    },
    DeleteCodeContextsByLanguage: async ({ caller, params, query }) => ({
      deleted: await code.closeAll(caller.tenant, params.sandboxId, query.language),
    }),
    ExecuteCode: async ({ caller, params, body, signal, headers }) => {
      const { run, withdraw } = await code.run(caller.tenant, params.sandboxId, body.code, body.context);
      signal.addEventListener('abort', () => void withdraw().catch(() => undefined), { once: true });
      if (signal.aborted) void withdraw().catch(() => undefined);
      const failure = (error: unknown) => {
        app.log.error('the output of code broke', { execution: run.id, error });
        return brokenMessage(app.clock);
      };
      const heartbeat = () => ping(app.clock);
      return sse(codeMessages(run, app.clock), {
        signal,
        headers,
        heartbeatMs: PING_MS,
        heartbeat,
        failure,
      });
    },
    InterruptCode: async ({ caller, params, query }) => {
      await code.interrupt(caller.tenant, params.sandboxId, query.id);
      return { id: query.id, status: 'interrupted' as const };
    },
  });
}
