import type { App, Module } from '../../app.ts';
import type { Caller } from '../../http/route.ts';
import type { OwnSandboxes } from '../sandbox/index.ts';
import { asOutcome, Invoker } from './invoker.ts';
import { Pool } from './isolated/pool.ts';
import type { Outcome } from './outcome.ts';
import { functionRoutes } from './routes.ts';
import { FunctionService } from './service.ts';
import { FunctionStore } from './store.ts';

export type { Outcome } from './outcome.ts';

/** What a function looks like to somebody who may call it as a tool. */
export interface FunctionTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What the rest of the daemon may ask of this module. */
export interface FunctionsFace {
  /** A function that is on, by its name; undefined when the tenant has none. */
  find(tenant: string, name: string): FunctionTool | undefined;
  /** Calls a function by its name. Whatever goes wrong is an outcome. Errors: cancelled, when the signal fires. */
  invoke(
    caller: Caller,
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Outcome>;
}

/** Functions of tenants: endpoints of theirs, mapped calls of other APIs, and code in sandboxes. */
export function createFunctionsModule(app: App, own: OwnSandboxes): Module & FunctionsFace {
  const store = new FunctionStore(app.db);
  const pool = new Pool({
    own,
    log: app.log,
    ledger: {
      add: (tenant, key) => store.addSandbox(tenant, key),
      remove: (tenant, key) => store.removeSandbox(tenant, key),
    },
    image: app.config.get('functions.image') || (own.driver === 'namespace' ? 'host' : ''),
    most: app.config.get('functions.instances'),
    idleMs: app.config.get('functions.idle'),
  });
  const service = new FunctionService(app, store, (tenant, id) => pool.retire(tenant, id));
  const invoker = new Invoker({ app, service, store, pool });
  const dockerHost = () => app.config.get('sandbox.docker_socket');
  return {
    name: 'functions',
    routes: functionRoutes(service, invoker, own, dockerHost),
    find(tenant, name) {
      const row = store.findByName(tenant, name);
      if (!row?.enabled) return undefined;
      const parameters = JSON.parse(row.parameters) as FunctionTool['parameters'];
      return { name, description: row.description, parameters };
    },
    async invoke(caller, name, args, signal) {
      try {
        return await invoker.invoke(caller, service.getByName(caller.tenant, name).row.id, args, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        return asOutcome(error);
      }
    },
    async start() {
      store.loseRunning();
      // What a former process has left runs nothing any more: nobody waits for it.
      void clearSandboxes(app, store, own);
    },
    stop: () => pool.close(),
  };
}

async function clearSandboxes(app: App, store: FunctionStore, own: OwnSandboxes): Promise<void> {
  for (const { tenant, key } of store.sandboxes())
    try {
      const id = own.find(tenant, key);
      if (id !== undefined) await own.terminate(tenant, id);
      store.removeSandbox(tenant, key);
    } catch (error) {
      app.log.warn('the sandbox of a function could not be ended', { error });
    }
}
