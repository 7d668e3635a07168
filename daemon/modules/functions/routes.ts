import { functions } from '../../../src/api/functions/functions.ts';
import { implement, type Route } from '../../http/route.ts';
import type { OwnSandboxes } from '../sandbox/index.ts';
import type { Invoker } from './invoker.ts';
import { isolationStatus } from './isolated/status.ts';
import type { FunctionService } from './service.ts';
import { invocationToWire, toWire } from './wire.ts';

/** The operations on functions. */
export function functionRoutes(
  service: FunctionService,
  invoker: Invoker,
  own: OwnSandboxes,
  dockerHost: () => string,
): Route[] {
  return implement(functions, {
    ListFunctions: ({ caller, query }) => {
      const { found, total } = service.list(caller.tenant, query);
      return { functions: found.map(toWire), total };
    },
    CreateFunction: ({ caller, body }) => ({ function: toWire(service.create(caller, body)) }),
    GetFunction: ({ caller, params }) => ({ function: toWire(service.get(caller.tenant, params.id)) }),
    GetFunctionByName: ({ caller, params }) => ({
      function: toWire(service.getByName(caller.tenant, params.name)),
    }),
    UpdateFunction: ({ caller, params, body }) => ({
      function: toWire(service.update(caller, params.id, body)),
    }),
    DeleteFunction: ({ caller, params }) => {
      const { name } = service.remove(caller, params.id);
      return { success: true, message: `The function ${name} is gone.` };
    },
    GetIsolationStatus: () => isolationStatus(own, dockerHost()),
    ListFunctionInvocations: ({ caller, params, query }) => ({
      invocations: service.invocations(caller.tenant, params.id, query.limit).map(invocationToWire),
    }),
    InvokeFunction: async ({ caller, params, body, signal }) => {
      const { id, status, durationMs, attempts, result, error, logs } = await invoker.invoke(
        caller,
        params.id,
        body.arguments ?? {},
        signal,
      );
      return {
        invocationId: id,
        status,
        durationMs: String(durationMs),
        attempts,
        ...(status === 'success' ? { result: result ?? null } : {}),
        ...(error === undefined ? {} : { error }),
        ...(logs ? { logs } : {}),
      };
    },
  });
}
